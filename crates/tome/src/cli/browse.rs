//! The command line of `tome browse`.

use std::path::PathBuf;

use clap::Args;

const BROWSE_HELP: &str = "\
Examples:
  tome browse                   the latest sessions of this project; type to search
  tome browse flaky test        begin with a search
  tome browse --all-projects
Typed letters search; Tab goes to the list, where letters act: Enter reads, r resumes the session, e edits
a note, t walks the contents, y copies the citation; p, a, w, s and u filter by project, agent, time,
source and speaker. ? lists all keys. Colors are not needed: NO_COLOR=1 and --color never are respected.";

/// `tome browse`
#[derive(Debug, Args)]
#[command(after_help = BROWSE_HELP)]
pub struct BrowseArgs {
    /// The first search [default: list the latest sessions]
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// This project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Begin with all projects
    #[arg(long)]
    pub all_projects: bool,
}
