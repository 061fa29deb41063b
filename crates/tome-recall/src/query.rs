//! Query and answer types of recall.

use std::time::Duration;

use tome_finder::EntrySource;
use tome_model::Millis;

use super::excluded_prompt::ExcludedPrompt;

/// The kinds of sources to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecallScope {
    /// All kinds.
    #[default]
    All,
    /// Details and overviews of sessions.
    Detail,
    /// Events.
    Messages,
    /// Notes of the project's notebook.
    Notes,
    /// Lessons of the coder's notebook.
    Coder,
    /// Nodes of the contents and their sources.
    Contents,
}

/// The projects and sessions to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Across {
    /// The current session only.
    Session,
    /// The current project and the coder's notebook.
    #[default]
    Project,
    /// All projects and the coder's notebook.
    All,
}

/// A retrieval method, in order of what it requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Text scan.
    Literal,
    /// BM25 index.
    Bm25,
    /// Vector index.
    Vectors,
    /// All of them, combined by rank fusion.
    Fused,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallQuery {
    /// The query as entered.
    pub query: String,
    /// Kinds of sources to search.
    pub scope: RecallScope,
    /// Projects and sessions to search.
    pub across: Across,
    /// Maximum number of hits.
    pub limit: usize,
    /// Approximate maximum number of tokens in the texts of all hits; 0: unlimited.
    pub tokens_max: usize,
    /// Root folder of the current project; required unless all projects are searched.
    pub project: Option<String>,
    /// The current session, used for short citations and `Across::Session`.
    pub session: Option<String>,
    /// Allowed agents; empty: all.
    pub agents: Vec<String>,
    /// Allowed event kinds; empty: all.
    pub kinds: Vec<String>,
    /// Inclusive.
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    /// Restricts the search to one tier; `None`: all available.
    pub tier: Option<Tier>,
    /// Whether the query is a regular expression, matched line by line in a text scan.
    pub is_regex: bool,
    /// Returns hits even below the relevance threshold; for measurements only.
    pub no_threshold: bool,
    /// Whether the query was made for a hint: returns only hits from other sessions that are
    /// relevant by themselves, and none from other projects.
    pub proactive: bool,
    /// Prompts whose turns are excluded, because the query may come from them.
    pub exclude_prompts: Vec<ExcludedPrompt>,
    /// The query as the agent or its user phrased it: an earlier prompt with the same text is
    /// replaced by its answer.
    pub live_prompts: Vec<String>,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallAnswer {
    /// Lowest tier that was used.
    pub tier: Tier,
    /// Number of records that an index has not read yet. They were scanned directly, except for
    /// those in `unread`.
    pub behind: u64,
    /// Descriptions of records that could not be searched.
    pub unread: Vec<String>,
    /// Best first.
    pub hits: Vec<RecallHit>,
    /// Number of further relevant hits beyond the limit or the token budget.
    pub more: usize,
    /// Other projects with hits, if this one has none.
    pub other_projects: Vec<OtherProjectHits>,
    /// The words of the query that name a time span.
    pub time: Option<String>,
    /// Steps performed, for `--explain`.
    pub stages: Vec<SearchStage>,
}

/// A hit.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// Kind of record.
    pub source: EntrySource,
    /// Opens with `tome show`.
    pub citation: String,
    /// File part of the citation, for notes and details.
    pub file: Option<String>,
    /// Line in that file or in `messages.jsonl`.
    pub line: Option<u32>,
    /// Excerpt around the match: at most 300 characters, white space collapsed.
    pub text: String,
    /// A node's title, or a note's name.
    pub title: String,
    /// Time of the event, or of the last change.
    pub at: Option<Millis>,
    /// Root folder of the project; empty for the coder's notebook.
    pub project: String,
    /// Session id.
    pub session: Option<String>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Event kind, or level of a node.
    pub kind: String,
    /// Name of the tool that produced the event.
    pub tool: Option<String>,
    /// Fused score; comparable only within one answer.
    pub score: f64,
    /// Tier, rank (from 1) and score for each tier that found it.
    pub ranks: Vec<(Tier, usize, f32)>,
    /// Citations of further hits in the same session or file.
    pub also: Vec<String>,
}

/// Another project with hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherProjectHits {
    /// Root folder.
    pub project: String,
    /// Lower bound on the number of hits.
    pub hits: usize,
}

/// A step of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchStage {
    /// Name of the step.
    pub name: String,
    /// Short summary of its result.
    pub found: String,
    /// Duration.
    pub took: Duration,
}

/// Name of a source in answers.
pub fn source_name(source: EntrySource) -> &'static str {
    match source {
        EntrySource::Event => "messages",
        EntrySource::Node => "contents",
        EntrySource::Grip => "grips",
        EntrySource::Note => "notes",
        EntrySource::Detail => "detail",
        EntrySource::Insight => "coder",
    }
}

macro_rules! named {
    ($name:ident, $field:literal, $($variant:ident = $text:literal),+) => {
        impl $name {
            /// The name on the wire and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = tome_model::ModelError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => {
                        let known = [$($text),+].join(", ");
                        let said = tome_model::truncate_to(text, 60);
                        Err(tome_model::ModelError::invalid($field, format!("{said:?} is unknown: use one of {known}")))
                    }
                }
            }
        }
    };
}

named!(
    RecallScope,
    "scope",
    All = "all",
    Detail = "detail",
    Messages = "messages",
    Notes = "notes",
    Coder = "coder",
    Contents = "contents"
);
named!(Across, "across", Session = "session", Project = "project", All = "all");
named!(Tier, "tier", Literal = "literal", Bm25 = "bm25", Vectors = "vectors", Fused = "fused");
