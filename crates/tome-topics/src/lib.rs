//! Topics: files, folders, commands, errors, packages, symbols, branches and issues that the work
//! touched, and groups of segments that belong together; each with a page.
//!
//! Pure: segments in, topics and pages out. The same segments give the same topics, in whatever
//! order they came.

mod activity;
mod builder;
mod decision;
mod file_page;
mod graph;
mod graph_weights;
mod group;
mod group_ids;
mod join;
mod label;
mod leiden;
mod limits;
mod named;
mod page;
mod page_subject;
mod path;
mod record;
mod related;
mod reversal;
mod search;
mod similarity;
mod vector;

pub use activity::{TopicActivity, WeekActivity};
pub use builder::{Topic, TopicMap, TopicStatus};
pub use decision::{FileDecision, defers_choice};
pub use file_page::FileLookup;
pub use graph_weights::GraphWeights;
pub use group_ids::GroupIds;
pub use named::{TopicKind, error_signature};
pub use page::{PageEntry, PageFact, PageFile, PageSession, ProblemState, TopicPage};
pub use path::resolve_repository_path;
pub use record::{
    CommandRecord, DeletionRecord, ErrorRecord, FactRecord, FileRecord, MoveRecord, SegmentRecord,
    TurnRecord,
};
pub use related::RelatedTopic;
pub use reversal::{Choice, Speaker, find_second_thoughts};
pub use vector::quantize;
