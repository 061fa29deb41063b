//! `tome import`, as typed.

use std::path::PathBuf;

use clap::Args;

pub const HELP: &str = "\
Reads the transcripts of claude-code, codex, gemini, copilot and opencode where they lie, and stores
what happened at its true time, in the project it happened in. What a hook has captured, or an
earlier import, is recognised and not stored again, so it can be run at any time, stopped at any
time, and run again. The transcripts are only read.

A PATH is a transcript or a folder of them, such as a home that was copied from another machine.
Lines that are damaged are named and left out.";

/// `tome import`
#[derive(Debug, Args)]
pub struct Import {
    /// Only this agent; may be given several times
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only what happened since: 2026-11-15, yesterday, 'last week', or 90m, 2h, 3d for that long ago
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Say what would be stored, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Read these transcripts, or folders of them, instead of those in your home
    #[arg(value_name = "PATH")]
    pub path: Vec<PathBuf>,
}

/// `tome doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Compare the transcripts on disk with what is stored, and say what is missing
    #[arg(long)]
    pub deep: bool,
}
