//! The contents: year, month, week, day, segment, made from events, with evidence.

mod expand;
mod limits;
mod reading;
mod said;
mod segment;
mod settings;
mod summarizer;
mod tokens;

pub use expand::Expanded;
pub use reading::{Browse, ContentsReader, Found, Line, Listing, Part};
pub use said::said;
pub use segment::{Segment, Weight, segments, weigh};
pub use settings::ContentsSettings;
pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
pub use tokens::estimate_tokens;
