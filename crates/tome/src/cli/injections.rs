//! The command line of `tome injections`.

use std::path::PathBuf;

use clap::Args;

const INJECTIONS_HELP: &str = "\
Examples:
  tome injections                   recent injections in this project, with their reasons
  tome injections --full -n 1       the text of the last one
  tome injections --preview         what a session started here now would get
Each kind can be turned off: inject.enabled, inject.start, inject.hints, inject.plan, inject.store,
inject.overview, inject.before_edit, inject.subagents. inject.budget_tokens limits the start of a session (`tome config --all` lists all settings).";

/// `tome injections`
#[derive(Debug, Args)]
#[command(after_help = INJECTIONS_HELP)]
pub struct InjectionsArgs {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub all_projects: bool,
    /// Show at most the latest N
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// Show texts in full instead of one line each
    #[arg(long, alias = "whole")]
    pub full: bool,
    /// Show what a session started here now would get
    #[arg(long, conflicts_with_all = ["session", "all_projects", "full"])]
    pub preview: bool,
    /// With --preview: the agent to render for
    #[arg(long, value_name = "NAME", requires = "preview", default_value = "claude-code")]
    pub agent: String,
}
