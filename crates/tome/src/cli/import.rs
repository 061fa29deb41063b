//! The command line of `tome import`.

use std::path::PathBuf;

use clap::Args;

pub const IMPORT_HELP: &str = "\
Reads the transcripts of claude-code, codex, gemini, copilot and opencode and stores each event with its
original time and project. Events already captured by a hook or an earlier import are recognized and not
stored again, so an import can be interrupted and repeated at any time. Transcripts are never changed.

A PATH is a transcript or a folder of them, such as a home folder copied from another machine.
Damaged lines are reported and skipped.";

/// `tome import`
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Only this agent; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only events since this time: 2026-11-15, yesterday, 'last week', or 90m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Show what would be imported without storing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Transcripts, or folders of them, to read instead of those in your home
    #[arg(value_name = "PATH")]
    pub path: Vec<PathBuf>,
}
