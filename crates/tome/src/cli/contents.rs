//! The command line of the contents, as typed: `tome toc` and `tome show`.

use std::path::PathBuf;

use clap::Args;

const TOC_HELP: &str = "\
Examples:
  tome toc                        the calendar of this project; what is recent in detail
  tome toc yesterday              or today, last week, in March, 3 days ago, monday,
                                  2026-11-14, between 2026-11-01 and 2026-11-14
  tome toc toc:week:2026-W46      one node whole: title, bullets, keywords, what is below
  tome toc toc:day:2026-11-14 --versions
A bullet names its grips: `tome show <grip>` shows the words that support it.";

/// `tome toc`
#[derive(Debug, Args)]
#[command(after_help = TOC_HELP, disable_version_flag = true)]
pub struct Toc {
    /// A node's id, or a time in words; without it, the whole calendar
    #[arg(value_name = "NODE OR TIME")]
    pub what: Vec<String>,
    /// How many levels to show [default: all where it is recent, fewer before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    pub depth: Option<u32>,
    /// List the versions of the node
    #[arg(long, conflicts_with_all = ["number", "depth", "agent"])]
    pub versions: bool,
    /// Show the node at this version
    #[arg(long = "version", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: Option<u32>,
    /// Only what this agent contributed to; may be given several times
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only this project [default: the one you stand in, if Tome knows it, else all]
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// One calendar of all projects
    #[arg(long)]
    pub all_projects: bool,
    /// At most this many below one node, the latest; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

const SHOW_HELP: &str = "\
An id says what it is of: toc:… a node, grip:… a grip, anything else an event. The beginning of an
event's, a grip's or a segment's id is enough if no other begins like it.
A citation, as recall gives it, opens at the cited place:
  messages.jsonl#L45            an event of the session at hand (--session, else the newest)
  detail/x.md#L10, overview.md  a note of that session
  sessions/<session>/…          the same of another session of this project
  memory/x.md#L3, coder/x.md#L3 a note of this project, an insight of the coder
  projects/<project>/…          what another project has";

/// `tome show`
#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub struct Show {
    /// The id of an event, a node or a grip, or a citation
    pub id: String,
    /// The session at hand, for citations [default: the newest of the project]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Events to show before a grip
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50))]
    pub before: Option<u32>,
    /// Events to show after a grip
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50))]
    pub after: Option<u32>,
    /// Only this project [default: all, the one you stand in first]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}
