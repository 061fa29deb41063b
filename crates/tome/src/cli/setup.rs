//! The command line of `tome setup`, as typed.

use std::path::PathBuf;

use clap::Args;

const SETUP_HELP: &str = "\
Agents: claude-code, codex, gemini, copilot, opencode. Without --agent, all that are found here.
What will change is shown first. Files of the agents are edited in place and keep everything that is
not Tome's, comments and order too; running it again changes nothing, or mends what is broken.
Examples:
  tome setup                      look, show, ask, do
  tome setup --dry-run            look and show
  tome setup --agent codex --yes  one agent, without asking
  tome setup --undo               every file becomes again what it was
  tome setup --plugins ./plugins  the same as plugins, to carry to other machines";

/// `tome setup`
#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct Setup {
    /// Only this agent, found or not; may be given several times
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Wire the project you stand in, not your own settings
    #[arg(long)]
    pub project: bool,
    /// Take Tome out again: every file becomes what it was
    #[arg(long)]
    pub undo: bool,
    /// Write plugins for the agents into this folder, and change nothing else
    #[arg(long, value_name = "DIR", conflicts_with_all = ["undo", "project", "dry_run"])]
    pub plugins: Option<PathBuf>,
}
