//! The summarizer interface: its input, output and errors.

use thiserror::Error;
use tome_home::HomeError;
use tome_model::{Event, Fact, FactKind, GripId, Level, Millis, Node, SessionId};

/// Writes a title, bullets and keywords for events or for child nodes.
pub trait Summarizer: Send + Sync {
    /// Name stored with each summary: `extractive`, `anthropic/claude-…`.
    fn name(&self) -> &str;
    /// Summarizes the events of a segment.
    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError>;
    /// Summarizes a period from its child nodes.
    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError>;
}

/// Consecutive events of one session.
#[derive(Debug, Clone, Copy, Default)]
pub struct SegmentInput<'a> {
    /// The events of the segment.
    pub events: &'a [Event],
    /// Events right before, as context only: no bullet may cite them.
    pub overlap: &'a [Event],
    /// The request that the segment continues, if it has none of its own.
    pub earlier_request: Option<&'a Event>,
    /// The prompt right after the segment.
    pub next_prompt: Option<&'a Event>,
    /// Whether the session goes on after the segment, so that nothing in it is open.
    pub is_followed: bool,
    /// Whether the agent goes on with the last turn after the segment, so that its last message is no answer.
    pub breaks_turn: bool,
}

/// A period and its child nodes, in order.
#[derive(Debug, Clone, Copy)]
pub struct RollupInput<'a> {
    /// The level of the period.
    pub level: Level,
    /// Human-readable name, such as `Thursday, January 29, 2026`.
    pub period: &'a str,
    /// The nodes right below it.
    pub children: &'a [Node],
}

/// Output of a summarizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// One line.
    pub title: String,
    /// 3 to 5 if there is enough to report.
    pub bullets: Vec<SummaryBullet>,
    /// 3 to 7 if there are that many.
    pub keywords: Vec<String>,
    /// The pieces of work with their facts. Empty from a summarizer that only words a page: the
    /// facts of the built-in one are kept.
    pub work: Vec<SummaryWork>,
}

/// A piece of work, with facts whose evidence is not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryWork {
    /// The branch, if known and not the main branch.
    pub branch: Option<String>,
    /// Its latest sessions, in order.
    pub sessions: Vec<SessionId>,
    /// Number of turns.
    pub turns: u64,
    /// Number of commits.
    pub commits: u64,
    /// How much happened, for ranking.
    pub weight: u64,
    /// The facts, in order of time.
    pub facts: Vec<SummaryFact>,
}

/// A fact whose evidence is not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryFact {
    /// The kind of fact.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// Time of the event that shows it.
    pub at: Millis,
    /// Preference among facts of the same kind.
    pub weight: u32,
    /// Its evidence; a fact without any is dropped.
    pub support: Support,
}

impl From<&Fact> for SummaryFact {
    fn from(fact: &Fact) -> Self {
        Self {
            kind: fact.kind,
            text: fact.text.clone(),
            at: fact.at,
            weight: fact.weight,
            support: Support::Grips(fact.grips().to_vec()),
        }
    }
}

/// One bullet and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryBullet {
    /// One line.
    pub text: String,
    /// May be empty.
    pub support: Support,
}

/// Evidence for a bullet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// For a segment: excerpts of its events.
    Excerpts(Vec<Evidence>),
    /// For a period: (child index, bullet index) pairs.
    Bullets(Vec<(usize, usize)>),
    /// For a period: grips of facts of its children, as the built-in summarizer passes them on.
    Grips(Vec<GripId>),
}

/// A verbatim part of an event's text, or of its tool's input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Index into the segment's events.
    pub event: usize,
    /// At most 200 characters.
    pub excerpt: String,
}

/// Reasons for a missing summary.
#[derive(Debug, Error)]
pub enum SummaryError {
    /// Temporary failure: retry after a delay.
    #[error("{why}; retrying in {after_s} s")]
    Later {
        /// The failure, as shown to people.
        why: String,
        /// Seconds until the next attempt.
        after_s: u64,
    },
    /// The daily token budget is spent.
    #[error("today's token budget is spent")]
    OverBudget,
    /// The model answered, but the answer violates the rules.
    #[error("unusable answer: {0}")]
    Unusable(String),
}

impl From<SummaryError> for HomeError {
    fn from(error: SummaryError) -> Self {
        Self::Summary(Box::new(error))
    }
}
