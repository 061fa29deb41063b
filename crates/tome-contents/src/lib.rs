//! The table of contents: years, months, weeks, days and segments, built from events, each bullet
//! backed by verbatim excerpts (grips).

mod calendar;
mod changes;
mod evidence;
mod expand;
mod extract;
mod limits;
mod polish;
mod rebuild;
mod replace;
mod rollup;
mod said;
mod segment;
mod settings;
mod stitch;
mod summarizer;
mod time_phrase;
mod verify;
mod worker;

pub use calendar::{
    Ask, Calendar, Depth, Entries, EntriesPage, Entry, NodeInPlace, Share, StoreChecked,
    StoreRebuilt, StoreReport, entries_at,
};
pub use evidence::EXTRACTIVE;
pub use expand::Expanded;
pub(crate) use expand::expand;
pub use extract::Extractive;
pub use polish::ModelSummarizer;
pub use rebuild::{Rebuilt, rebuild_contents};
pub use replace::{Found, Replaced, Source, Unpolished, replace_summary, source_of, unpolished};
pub use said::said;
pub use segment::{Segment, Weight, segments, weigh};
pub use settings::ContentsSettings;
pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
pub use time_phrase::{Span, find_when, when};
pub use verify::{Report, verify_contents};
pub use worker::{CONTENTS, CaughtUp, catch_up_contents};
