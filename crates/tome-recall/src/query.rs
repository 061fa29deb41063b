//! Query types of recall.

use tome_finder::{EntryFilter, RecordKind};
use tome_model::{EventId, Millis};

/// A query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallQuery {
    /// The query as entered.
    pub text: String,
    /// How to read the text.
    pub syntax: QuerySyntax,
    /// Who asks.
    pub origin: QueryOrigin,
    /// Records to search.
    pub filter: RecallFilter,
    /// Size of the answer.
    pub limits: RecallLimits,
    /// Restricts the search to one tier; `None`: all available.
    pub tier: Option<Tier>,
    /// Whether irrelevant hits are dropped.
    pub threshold: ThresholdPolicy,
    /// The order of the hits.
    pub order: HitOrder,
    /// What the limits count.
    pub unit: HitUnit,
}

/// What the limits of an answer count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HitUnit {
    /// Every hit.
    #[default]
    Record,
    /// Turns: the hits of one turn count once and stand together.
    Turn,
}

impl std::str::FromStr for HitUnit {
    type Err = tome_model::InvalidInput;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "hit" => Ok(Self::Record),
            "turn" => Ok(Self::Turn),
            _ => Err(tome_model::InvalidInput::invalid("unit", "must be hit or turn")),
        }
    }
}

/// The order of the hits. The same hits are chosen either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HitOrder {
    /// The best first.
    #[default]
    Relevance,
    /// The earliest first.
    Time,
}

impl std::str::FromStr for HitOrder {
    type Err = tome_model::InvalidInput;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "relevance" => Ok(Self::Relevance),
            "time" => Ok(Self::Time),
            _ => Err(tome_model::InvalidInput::invalid("sort", "must be relevance or time")),
        }
    }
}

/// How to read the text of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuerySyntax {
    /// Words, names and symbols; may name a time span.
    #[default]
    Words,
    /// A regular expression, matched line by line in a text scan.
    Regex,
}

/// Who asks. Decides which records are not useful as hits and how long the search may take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum QueryOrigin {
    /// A person, who may find everything.
    #[default]
    Person,
    /// An agent that queries its memory while it works on a prompt.
    Agent {
        /// The prompts that it may be working on. Their turns are excluded, and earlier prompts
        /// with the same text are replaced by their answers.
        prompts: Vec<ExcludedPrompt>,
    },
    /// Tome itself, which looks up hints for a prompt while its agent waits. Returns only hits from
    /// other sessions that are relevant by themselves, and none from other projects.
    Proactive {
        /// The whole prompt. An earlier prompt with the same text is replaced by its answer.
        prompt: String,
    },
}

/// A prompt whose turn is excluded from the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedPrompt {
    pub(super) session: String,
    pub(super) id: EventId,
    pub(super) at: Millis,
    /// Earlier prompts with the same text are not hits either.
    pub text: String,
}

/// Whether unrelated hits are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThresholdPolicy {
    /// Returns no hits if nothing shares a telling word or a meaning with the query.
    #[default]
    Enforce,
    /// Returns the best hits even then; for measurements only.
    Ignore,
}

/// Limits on the size of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecallLimits {
    /// Maximum number of hits.
    pub hits: usize,
    /// Number of hits that were listed already: those after them are listed.
    pub skip: usize,
    /// Approximate maximum number of tokens in the texts of all hits; `None`: unlimited.
    pub tokens: Option<usize>,
}

/// The records to search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecallFilter {
    /// Kinds of sources.
    pub scope: RecallScope,
    /// Projects and sessions.
    pub across: Across,
    /// Root folder of the current project; required unless all projects are searched.
    pub project: Option<String>,
    /// The current session, used for short citations and `Across::Session`.
    pub session: Option<String>,
    /// Allowed agents; empty: all.
    pub agents: Vec<String>,
    /// Allowed event kinds, or types of lessons in the scope of those; empty: all. Nothing else has
    /// a kind.
    pub kinds: Vec<String>,
    /// Inclusive.
    pub from: Option<Millis>,
    /// Exclusive.
    pub to: Option<Millis>,
}

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
    /// All of them, their scores combined.
    Fused,
}

impl RecallQuery {
    /// Texts whose repetitions are not hits: the live prompts and, for an agent, its query.
    pub(super) fn prompts_to_suppress(&self) -> Vec<&str> {
        match &self.origin {
            QueryOrigin::Person => Vec::new(),
            QueryOrigin::Agent { prompts } => {
                prompts.iter().map(|prompt| prompt.text.as_str()).chain([&*self.text]).collect()
            }
            QueryOrigin::Proactive { prompt } => vec![prompt.as_str()],
        }
    }
}

impl QueryOrigin {
    /// Returns whether the query was made for a hint, while an agent waits.
    pub(super) fn is_proactive(&self) -> bool {
        matches!(self, Self::Proactive { .. })
    }

    /// The prompts whose turns are excluded, because the query may come from them.
    pub(super) fn excluded_prompts(&self) -> &[ExcludedPrompt] {
        match self {
            Self::Agent { prompts } => prompts,
            Self::Person | Self::Proactive { .. } => &[],
        }
    }
}

impl RecallFilter {
    /// The id of the current session, if there is one.
    pub(super) fn current_session(&self) -> Option<&str> {
        self.session.as_deref().filter(|session| !session.is_empty())
    }

    /// The conditions on single records. Index sets restrict sources and projects further.
    pub(super) fn entry_filter(&self) -> EntryFilter {
        let only_session = self.current_session().filter(|_| self.across == Across::Session);
        EntryFilter {
            sources: Vec::new(),
            project: None,
            session: only_session.map(str::to_owned),
            agents: self.agents.clone(),
            kinds: self.kinds.clone(),
            from: self.from,
            to: self.to,
        }
    }

    pub(super) fn includes_events(&self) -> bool {
        matches!(self.scope, RecallScope::All | RecallScope::Messages)
    }

    pub(super) fn includes_coder(&self) -> bool {
        self.across != Across::Session && self.includes_pages(RecordKind::Lesson)
    }

    /// Returns whether pages of this source are searched.
    pub(super) fn includes_pages(&self, source: RecordKind) -> bool {
        self.page_sources().contains(&source)
    }

    /// The sources of pages to search.
    pub(super) fn page_sources(&self) -> &'static [RecordKind] {
        if !self.kinds.is_empty() && self.scope != RecallScope::Coder {
            return &[];
        }
        match self.scope {
            RecallScope::All => &[
                RecordKind::Node,
                RecordKind::Grip,
                RecordKind::Note,
                RecordKind::Detail,
                RecordKind::Lesson,
            ],
            RecallScope::Messages => &[],
            RecallScope::Detail => &[RecordKind::Detail],
            RecallScope::Notes => &[RecordKind::Note],
            RecallScope::Coder => &[RecordKind::Lesson],
            RecallScope::Contents => &[RecordKind::Node, RecordKind::Grip],
        }
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
            type Err = tome_model::InvalidInput;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => {
                        let known = [$($text),+].join(", ");
                        let shown = tome_model::truncate_to(text, 60);
                        Err(tome_model::InvalidInput::invalid($field, format!("{shown:?} is unknown: use one of {known}")))
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
