//! The contents: year, month, week, day, segment, made from events, with evidence.

mod summarizer;

pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
