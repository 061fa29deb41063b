//! The command line of `tome injections`.

use std::path::PathBuf;

use clap::Args;

const INJECTIONS_HELP: &str = "\
Examples:
  tome injections                   what agents in this project were told lately, and why
  tome injections --full -n 1       the text of the last one
  tome injections --preview         what a session that starts here now would get
Everything can be switched off: inject.enabled, inject.start, inject.hints, inject.plan, inject.store,
inject.overview; inject.budget_tokens bounds the start of a session (`tome config` shows them all).";

/// `tome injections`
#[derive(Debug, Args)]
#[command(after_help = INJECTIONS_HELP)]
pub struct Injections {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this project [default: the one you stand in, if Tome knows it, else all]
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub all_projects: bool,
    /// At most this many, the latest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// Show the texts too
    #[arg(long)]
    pub full: bool,
    /// Show what a session that starts here now would get
    #[arg(long, conflicts_with_all = ["session", "all_projects", "full"])]
    pub preview: bool,
    /// With --preview: as this agent gets it
    #[arg(long, value_name = "NAME", requires = "preview", default_value = "claude-code")]
    pub agent: String,
}
