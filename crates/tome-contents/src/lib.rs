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
    Calendar, CalendarEntry, CalendarListing, CalendarPage, CalendarQuery, Depth, LocatedNode,
    ProjectShare, StoreRebuildResult, StoreReport, StoreVerifyResult, list_span,
};
pub use evidence::EXTRACTIVE;
pub use expand::ExpandedGrip;
pub use extract::Extractive;
pub use polish::ModelSummarizer;
pub use rebuild::{ContentsRebuildReport, rebuild_contents};
pub use replace::{
    NodeSource, ProjectNode, ReplaceOutcome, UnpolishedPage, list_unpolished, load_source,
    replace_summary,
};
pub use said::event_texts;
pub use segment::{EventSegment, EventWeight, cut_segments, weigh_event};
pub use settings::ContentsSettings;
pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};
pub use time_phrase::{TimeSpan, find_time_phrase, parse_time_phrase};
pub use verify::{ContentsVerifyReport, verify_contents};
pub use worker::{CONTENTS_WORKER, ContentsCatchUpReport, catch_up_contents};
