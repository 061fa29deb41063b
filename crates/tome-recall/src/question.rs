//! What is asked of recall, and what it answers.

use std::time::Duration;

use tome_finder::Source;
use tome_model::Millis;

use super::own::OwnPrompt;

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Within {
    /// Everything.
    #[default]
    All,
    /// The details (and the overview) of sessions.
    Detail,
    /// What was said and done: the events.
    Messages,
    /// The project's notebook.
    Notes,
    /// The coder's notebook.
    Coder,
    /// Nodes and grips of the contents.
    Contents,
}

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Across {
    /// The session at hand only.
    Session,
    /// The project, and the coder's notebook.
    #[default]
    Project,
    /// Every project, and the coder's notebook.
    All,
}

/// A way of finding, from the one that always works to the one that needs most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Looking at the texts themselves.
    Literal,
    /// The index of words.
    Words,
    /// The index of vectors.
    Meanings,
    /// All of them, fused.
    Fused,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallQuestion {
    /// The words, as they were said.
    pub query: String,
    /// Where to look.
    pub within: Within,
    /// How far to look.
    pub across: Across,
    /// At most so many hits. 0: none.
    pub limit: usize,
    /// At most about so many tokens of text in all hits together; 0: as many as there are.
    pub tokens_max: usize,
    /// The root of the project at hand; needed unless all projects are asked.
    pub project: Option<String>,
    /// The session at hand: its citations are short, and it is what `Across::Session` means.
    pub session: Option<String>,
    /// Only of these agents.
    pub agents: Vec<String>,
    /// Only events of these kinds.
    pub kinds: Vec<String>,
    /// From this moment on.
    pub since: Option<Millis>,
    /// Before this moment.
    pub until: Option<Millis>,
    /// Only this way of finding; `None`: the best there is.
    pub tier: Option<Tier>,
    /// The query is a regular expression: it is looked for literally, line by line.
    pub is_regex: bool,
    /// Say "nothing relevant" below the floor; off only to measure.
    pub no_floor: bool,
    /// Nobody asked: only hits of other sessions than the one at hand that have most of the question
    /// each by itself, and nothing of other projects.
    pub unasked: bool,
    /// Prompts of the turns that the question may come from: those turns are left out.
    pub own_prompts: Vec<OwnPrompt>,
    /// The question as an agent or its user put it: an earlier copy is replaced by its answer.
    pub live_questions: Vec<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallAnswer {
    /// The tier that answered.
    pub tier: Tier,
    /// How many things an index has yet to read; 0: none is behind. They were looked through all the same,
    /// unless `unread` says otherwise.
    pub behind: u64,
    /// What could not be looked through, and why.
    pub unread: Vec<String>,
    /// The hits, the best first.
    pub hits: Vec<RecallHit>,
    /// More that would have been relevant, beyond the limit or the tokens.
    pub more: usize,
    /// Other projects that have hits, where this one has none.
    pub elsewhere: Vec<Elsewhere>,
    /// The stretch of time that the question names, as it was said and understood.
    pub time: Option<String>,
    /// What was done, for `--explain`.
    pub stages: Vec<Stage>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// What kind of thing it is.
    pub source: Source,
    /// Where it is: opens with `tome show`.
    pub citation: String,
    /// The file, as the citation names it, for notes and details.
    pub file: Option<String>,
    /// The line in that file or in `messages.jsonl`.
    pub line: Option<u32>,
    /// A part of the text that contains the match, at most 300 characters, white space folded.
    pub text: String,
    /// What it is called: a node's title, a note's name.
    pub title: String,
    /// When it happened or was last changed.
    pub at: Option<Millis>,
    /// The root of its project; empty for the coder's.
    pub project: String,
    /// Its session.
    pub session: Option<String>,
    /// Its agent.
    pub agent: Option<String>,
    /// The kind of event, or the level of a node.
    pub kind: String,
    /// The tool whose output it is, for an event of a tool.
    pub tool: Option<String>,
    /// The fused score; comparable within one answer.
    pub score: f64,
    /// Rank (from 1) and score in each tier that found it.
    pub ranks: Vec<(Tier, usize, f32)>,
    /// Citations of further hits of the same session or file that are not listed.
    pub also: Vec<String>,
}

/// Another project that has hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its root.
    pub project: String,
    /// How many, at least.
    pub hits: usize,
}

/// One step on the way to the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// What was done.
    pub name: String,
    /// What it gave, in a few words.
    pub found: String,
    /// How long it took.
    pub took: Duration,
}

/// The name of a source, as it stands in answers.
pub fn source_name(source: Source) -> &'static str {
    match source {
        Source::Event => "messages",
        Source::Node => "contents",
        Source::Grip => "grips",
        Source::Note => "notes",
        Source::Detail => "detail",
        Source::Insight => "coder",
    }
}

macro_rules! named {
    ($name:ident, $field:literal, $($variant:ident = $text:literal),+) => {
        impl $name {
            /// The name, as it is written everywhere.
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
                        Err(tome_model::ModelError::invalid($field, format!("{said:?} is not known: use one of {known}")))
                    }
                }
            }
        }
    };
}

named!(
    Within,
    "scope",
    All = "all",
    Detail = "detail",
    Messages = "messages",
    Notes = "notes",
    Coder = "coder",
    Contents = "contents"
);
named!(Across, "across", Session = "session", Project = "project", All = "all");
named!(Tier, "tier", Literal = "literal", Words = "bm25", Meanings = "vectors", Fused = "fused");
