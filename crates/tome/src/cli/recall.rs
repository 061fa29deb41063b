//! The command line of `tome recall`.

use std::path::PathBuf;

use clap::Args;

const RECALL_HELP: &str = "\
Examples:
  tome recall why did we choose fjall
  tome recall 'the lexer last week'          understands dates in the query
  tome recall E0502 --since 3d --agent codex
  tome recall 'retry policy' --scope notes   or detail, messages, coder, contents, instructions, topics
  tome recall budget --sort time -n 20       what was said about it, in order
  tome recall 'fn parse_\\w+' --regex         matches line by line in the original texts
  tome recall deploy --all-projects --json
`tome show 123 retry policy` opens hit #123 with the turn around it, and marks the words. Lessons for all
projects are always searched.
Hits that are less sure say so: likely, or weak (the best there is, but probably no answer).";

/// Default number of hits.
const LIMIT: u32 = 5;

/// `tome recall`
#[derive(Debug, Args)]
#[command(after_help = RECALL_HELP)]
pub struct RecallArgs {
    /// What to look for, in your own words
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Kinds of records to search
    #[arg(
        long,
        value_name = "SCOPE",
        default_value = "all",
        value_parser = [
            "all", "detail", "messages", "notes", "coder", "contents", "instructions", "topics",
        ]
    )]
    pub scope: String,
    /// Maximum number of hits; those of one turn count as one
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = LIMIT,
        value_parser = parse_count,
        allow_negative_numbers = true
    )]
    pub limit: u32,
    /// Continue after this many hits
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub skip: u32,
    /// Only since this time: 2026-11-15, yesterday, 'last week', 2026-11-15T09:30:00Z, or 90m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this agent; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only events of this kind, such as user_message; repeatable
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only this session
    #[arg(long, value_name = "ID", conflicts_with = "all_projects")]
    pub session: Option<String>,
    /// How widely to search [default: session if --session is given, otherwise project]
    #[arg(
        long,
        value_name = "RANGE",
        value_parser = ["session", "project", "all"],
        conflicts_with = "all_projects"
    )]
    pub across: Option<String>,
    /// Search all projects; same as --across all
    #[arg(long)]
    pub all_projects: bool,
    /// This project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// The order of the hits: the best first, or the earliest first as a timeline
    #[arg(long, value_name = "ORDER", default_value = "relevance", value_parser = ["relevance", "time"])]
    pub sort: String,
    /// Use only this tier (retrieval method) [default: the best available]
    #[arg(long, value_name = "TIER", value_parser = ["literal", "bm25", "vectors", "fused"])]
    pub tier: Option<String>,
    /// Treat the query as a regular expression
    #[arg(long)]
    pub regex: bool,
    /// Approximate token budget for the text of all hits together
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    pub tokens: Option<u32>,
    /// Show the stages of the search with timings, and each hit's rank and score per tier
    #[arg(long)]
    pub explain: bool,
}

impl RecallArgs {
    /// The flags that leave out hits, as typed.
    pub fn filter_flags(&self) -> Vec<(&'static str, String)> {
        let scope = Some(self.scope.clone()).filter(|scope| scope != "all");
        let single =
            [("--scope", &scope), ("--since", &self.since), ("--until", &self.until)].into_iter();
        let single = single.filter_map(|(name, value)| Some((name, value.clone()?)));
        let agents = self.agent.iter().map(|agent| ("--agent", agent.clone()));
        let kinds = self.kind.iter().map(|kind| ("--kind", kind.clone()));
        single.chain(agents).chain(kinds).collect()
    }

    /// The flags as typed, except for those that select a page.
    pub fn flags_to_repeat(&self) -> Vec<String> {
        let project = self.project.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        let chosen = |value: &str, default: &str| Some(value.to_owned()).filter(|it| it != default);
        let values = [
            ("--scope", chosen(&self.scope, "all")),
            ("--limit", Some(self.limit).filter(|limit| *limit != LIMIT).map(|n| n.to_string())),
            ("--since", self.since.clone()),
            ("--until", self.until.clone()),
            ("--session", self.session.clone()),
            ("--across", self.across.clone()),
            ("--project", project),
            ("--sort", chosen(&self.sort, "relevance")),
            ("--tier", self.tier.clone()),
            ("--tokens", self.tokens.map(|tokens| tokens.to_string())),
        ];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let agents = self.agent.iter().map(|agent| ("--agent", agent.clone()));
        let kinds = self.kind.iter().map(|kind| ("--kind", kind.clone()));
        let switches = [
            ("--all-projects", self.all_projects),
            ("--regex", self.regex),
            ("--explain", self.explain),
        ];
        let switches = switches.into_iter().filter(|(_, is_on)| *is_on);
        let values = values.chain(agents).chain(kinds);
        values
            .flat_map(|(name, value)| [name.to_owned(), value])
            .chain(switches.map(|(name, _)| name.to_owned()))
            .collect()
    }
}

const INSTRUCTIONS_HELP: &str = "\
Recognized when the user says them: always, never, from now on, I prefer, please don't. A later one on
the same subject replaces an earlier one. `tome show <number>` shows where it was said.";

/// `tome instructions`
#[derive(Debug, Args)]
#[command(after_help = INSTRUCTIONS_HELP)]
pub struct InstructionsArgs {
    /// Only instructions that share words with this text
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Also instructions that a later one replaced
    #[arg(long)]
    pub all: bool,
    /// This project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Instructions of all projects
    #[arg(long)]
    pub all_projects: bool,
}

/// Parses a count; values beyond `u32::MAX` saturate.
fn parse_count(text: &str) -> Result<u32, String> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole {
        Ok(text.parse().unwrap_or(u32::MAX))
    } else {
        Err("must be a whole number, 0 or greater".to_owned())
    }
}
