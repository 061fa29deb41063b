//! The command line of recall, as typed.

use std::path::PathBuf;

use clap::Args;

const RECALL_HELP: &str = "\
Examples:
  tome recall why did we choose fjall
  tome recall 'the lexer last week'          a time in the words counts
  tome recall E0502 --since 3d --agent codex
  tome recall 'retry policy' --scope notes   or detail, messages, coder, contents
  tome recall 'fn parse_\\w+' --regex         line by line, in the texts themselves
  tome recall deploy --all-projects --json
Every hit has a citation: `tome show <citation>` opens it at that place.
Notes of yours across projects are looked through wherever you stand. When nothing is relevant,
recall says so.";

/// `tome recall`
#[derive(Debug, Args)]
#[command(after_help = RECALL_HELP)]
pub struct Recall {
    /// What to look for, in your own words
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Where to look
    #[arg(
        long,
        value_name = "SCOPE",
        default_value = "all",
        value_parser = ["all", "detail", "messages", "notes", "coder", "contents"]
    )]
    pub scope: String,
    /// At most this many hits
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 5,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub limit: u32,
    /// From this time on: 2026-11-15, yesterday, 'last week', 2026-11-15T09:30:00Z, or 90m, 2h, 3d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only what this agent said or did; may be given several times
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only events of this kind, such as user_message; may be given several times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only this session
    #[arg(long, value_name = "ID", conflicts_with = "all_projects")]
    pub session: Option<String>,
    /// How far to look [default: project, or session where --session is given]
    #[arg(
        long,
        value_name = "HOW FAR",
        value_parser = ["session", "project", "all"],
        conflicts_with = "all_projects"
    )]
    pub across: Option<String>,
    /// All projects; the same as --across all
    #[arg(long)]
    pub all_projects: bool,
    /// A folder of the project [default: the one you stand in, if Tome knows it, else all]
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Only this way of finding [default: the best there is]
    #[arg(long, value_name = "TIER", value_parser = ["literal", "bm25", "vectors", "fused"])]
    pub tier: Option<String>,
    /// Take the query for a regular expression
    #[arg(long)]
    pub regex: bool,
    /// At most about this many tokens of text in all hits together
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub tokens: Option<u32>,
    /// Say what was done on the way, and what each way of finding said of each hit
    #[arg(long)]
    pub explain: bool,
}

/// A count. One that is larger than any can be is taken for the largest.
fn count(text: &str) -> Result<u32, String> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_whole {
        true => Ok(text.parse().unwrap_or(u32::MAX)),
        false => Err("use a whole number from 0 up".to_owned()),
    }
}
