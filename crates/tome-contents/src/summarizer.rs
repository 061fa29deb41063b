//! What a summarizer is given and what it gives.

use thiserror::Error;
use tome_home::HomeError;
use tome_model::{Event, Level, Node};

/// Makes a title, bullets and keywords of a stretch of events, or of the nodes below.
pub trait Summarizer: Send + Sync {
    /// Its name, kept with what it makes: `extractive`, `anthropic/claude-…`.
    fn name(&self) -> &str;
    /// Summarises the events of a segment.
    fn segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError>;
    /// Summarises a period from the nodes below it.
    fn rollup(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError>;
}

/// A stretch of one session, in order.
#[derive(Debug, Clone, Copy)]
pub struct SegmentInput<'a> {
    /// The events of the segment.
    pub events: &'a [Event],
    /// What came right before, of the same session; for understanding, not for bullets.
    pub overlap: &'a [Event],
}

/// A period, and the nodes below it, in order.
#[derive(Debug, Clone, Copy)]
pub struct RollupInput<'a> {
    /// How coarse the period is.
    pub level: Level,
    /// What people call it: `Thursday, January 29, 2026`.
    pub period: &'a str,
    /// The nodes below it.
    pub children: &'a [Node],
}

/// What a summarizer makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What it was about, in a line.
    pub title: String,
    /// 3 to 5 where there is so much.
    pub bullets: Vec<SummaryBullet>,
    /// 3 to 7 where there are so many.
    pub keywords: Vec<String>,
}

/// One bullet, and what supports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryBullet {
    /// In a line.
    pub text: String,
    /// Where it comes from; empty where nothing supports it.
    pub support: Support,
}

/// What supports a bullet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// Of a segment: excerpts of its events.
    Excerpts(Vec<Evidence>),
    /// Of a period: bullets of its children, by the child's place and the bullet's.
    Bullets(Vec<(usize, usize)>),
}

/// A verbatim part of one event's text (or of its tool's input or output, as text).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Which of the segment's events.
    pub event: usize,
    /// At most 200 characters.
    pub excerpt: String,
}

/// Why there is no summary.
#[derive(Debug, Error)]
pub enum SummaryError {
    /// Try again, not before so many seconds.
    #[error("{why}; trying again in {after_s} s")]
    Later {
        /// What happened.
        why: String,
        /// How long to wait.
        after_s: u64,
    },
    /// The day's budget is spent.
    #[error("today's budget of tokens is spent")]
    OverBudget,
    /// It answered, and the answer cannot be used.
    #[error("the answer cannot be used: {0}")]
    Unusable(String),
}

impl From<SummaryError> for HomeError {
    fn from(error: SummaryError) -> Self {
        Self::Summary(Box::new(error))
    }
}
