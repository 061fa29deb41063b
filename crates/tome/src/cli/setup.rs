//! The command line of `tome setup`.

use std::path::PathBuf;

use clap::Args;

const SETUP_HELP: &str = "\
Agents: claude-code, codex, gemini, copilot, opencode. Without --agent, all installed agents.
Setup shows every change first. It edits the agents' files in place and keeps everything else in them,
including comments and order. Running it again changes nothing, or repairs what is broken.
Examples:
  tome setup                      show the changes, ask, and apply them
  tome setup --dry-run            only show the changes; --diff shows every line
  tome setup --agent codex --yes  one agent, without asking
  tome setup --undo               restore every changed file
  tome setup --plugins ./plugins  write plugins that can be copied to other machines";

/// `tome setup`
#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct SetupArgs {
    /// Only this agent, even if it is not installed; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Apply without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would change without changing anything
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Show every line of the changes
    #[arg(long)]
    pub diff: bool,
    /// Change the settings of the current project instead of your user settings
    #[arg(long)]
    pub project: bool,
    /// Disconnect Tome: restore every changed file
    #[arg(long, visible_alias = "uninstall")]
    pub undo: bool,
    /// Write plugins for the agents to this folder, and change nothing else
    #[arg(long, value_name = "DIR", conflicts_with_all = ["undo", "project", "dry_run"])]
    pub plugins: Option<PathBuf>,
}
