//! The command line of `tome export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub const EXPORT_HELP: &str = "\
Secrets are redacted again with the current patterns. HTML is one file without scripts or links to other files.

Examples:
  tome export 6f0c5b1e                   a session as Markdown, to the terminal
  tome export 6f0c5b1e --format html --out session.html
  tome export --project . --format jsonl --out app.jsonl     `tome ingest` accepts it";

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Text with headings
    #[value(alias = "md")]
    Markdown,
    /// A page for a browser
    Html,
    /// One JSON object per event
    #[value(alias = "json")]
    Jsonl,
}

/// `tome export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Id of a session or its beginning, or the number or id of an event in it
    #[arg(value_name = "SESSION", conflicts_with = "project")]
    pub session: Option<String>,
    /// All sessions of this project, by name or folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// How to write it [default: by the file's name, otherwise markdown]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Write this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
}
