//! Summaries of turns that leave the context window: the interface for a summarizer of your own, its
//! input and output. [`Extractive`] is the built-in one.

pub use tome_contents::{
    Evidence, Extractive, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet,
    SummaryError, SummaryFact, SummaryWork, Support,
};
pub use tome_model::{Bullet, Fact, FactKind, GripId, Level, Node, NodeId, Work};
