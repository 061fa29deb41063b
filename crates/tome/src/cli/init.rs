//! The command line of `tome init`.

use std::path::PathBuf;

use clap::Args;

/// `tome init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Keep the notes in .memory/ in the repository, so that the team can commit them
    #[arg(long)]
    pub in_repo: bool,
    /// This project, by name or folder [default: the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}
