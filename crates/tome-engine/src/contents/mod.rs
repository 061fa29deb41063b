//! The contents: year, month, week, day, segment, made from events, with evidence.

mod extract;
mod summarizer;

pub use extract::Extractive;
pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
