//! The command lines of `tome toc` and `tome show`.

use std::path::PathBuf;

use clap::Args;

const TOC_HELP: &str = "\
Examples:
  tome toc                        the contents of this project, recent periods in detail
  tome toc yesterday              or today, last week, in March, 3 days ago, monday,
                                  2026-11-14, between 2026-11-01 and 2026-11-14
  tome toc 2026-W46               a week, also 2026 or 2026-11
  tome toc 01M7F8NJE081           a segment, by the short id that its day shows
  tome toc toc:day:2026-11-14 --versions
Each bullet ends with the numbers of the events that support it: `tome show <number>` opens one.
A line `request → result` is a turn. \"files changed again in #230\": the turn of that prompt, about the
same subject, changed files of this turn again, so the result may no longer hold.
--json also has the ids of the quoted excerpts (grips).";

/// `tome toc`
#[derive(Debug, Args)]
#[command(after_help = TOC_HELP, disable_version_flag = true)]
pub struct TocArgs {
    /// Id of a node, or a time in words [default: all contents]
    #[arg(value_name = "NODE OR TIME")]
    pub what: Vec<String>,
    /// Number of levels to show [default: all for recent periods, fewer for older ones]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    pub depth: Option<u32>,
    /// List the versions of the node
    #[arg(long, conflicts_with_all = ["number", "depth", "agent"])]
    pub versions: bool,
    /// Show this version of the node
    #[arg(long = "version", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: Option<u32>,
    /// Only nodes that this agent contributed to; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects, merged
    #[arg(long)]
    pub all_projects: bool,
    /// Show at most the latest N children of each node; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

const SHOW_HELP: &str = "\
Ids starting with toc: are nodes, grip: are sources; all others are sessions or events. A unique prefix
is enough for sessions, events, sources and segments; 2026-W46 and 2026-11-14 are pages of the contents.
A number is an event of this project, as printed by recall and events; its turn is shown with it.
A citation opens at the cited line:
  messages.jsonl#L45            an event of the current session (--session, or the newest)
  detail/x.md#L10, overview.md  a note of that session
  sessions/<session>/…          the same for another session of this project
  memory/x.md#L3, coder/x.md#L3 a note of this project, a lesson for all projects
  projects/<project>/…          the same for another project";

/// `tome show`
#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub struct ShowArgs {
    /// Id of a session, number or id of an event, id of a node or source (grip), or a citation
    pub id: String,
    /// Words to find and mark in the text, such as those of a search
    pub words: Vec<String>,
    /// Show N events before and after an event instead of its turn, at most 50
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub around: Option<u32>,
    /// Show texts in full
    #[arg(long, visible_alias = "whole")]
    pub full: bool,
    /// Show the ids, times and metadata of events whole, and the paths of citations
    #[arg(long, short)]
    pub verbose: bool,
    /// The session that short citations refer to [default: the newest of the project]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Number of events to show before a source (grip)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50))]
    pub before: Option<u32>,
    /// Number of events to show after a source (grip)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50))]
    pub after: Option<u32>,
    /// Only this project, by name or folder [default: all, the current project first]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}
