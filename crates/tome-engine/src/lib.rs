//! The mind of Tome: what becomes of an event, where it belongs, what is made of it.
//!
//! This crate knows no socket, no command line, no environment and no wall clock: whoever runs it
//! brings a home folder, settings and a `Clock`.

mod calendar;
mod capture;
mod citation;
mod contents;
mod damage;
mod durable;
mod error;
mod home;
mod in_repository;
mod injection;
mod intake;
mod notebooks;
mod project;
mod project_file;
mod projects;
mod reading;
mod recall;
mod session_copy;
mod spool;
mod stores;
mod tally;
mod tools;
pub mod triggers;

pub use calendar::{
    Ask, Calendar, Depth, Entries, EntriesPage, Entry, NodeInPlace, Share, StoreChecked,
    StoreRebuilt, StoreReport, entries_at,
};
pub use capture::{CaptureError, OwnPattern, Redactor, Sealer};
pub use citation::{Citation, Citations, CitedPlace, Opened, OpenedPlace, Viewpoint};
pub use contents::{
    CONTENTS, CaughtUp, ContentsSettings, EXTRACTIVE, Evidence, Expanded, Extractive, Found,
    ModelSummarizer, Rebuilt, Replaced, Report, RollupInput, Segment, SegmentInput, Source,
    Summarizer, Summary, SummaryBullet, SummaryError, Support, Unpolished, Weight,
    catch_up_contents, estimate_tokens, rebuild_contents, replace_summary, said, segments,
    source_of, unpolished, verify_contents, weigh,
};
pub use damage::Damage;
pub use durable::write_atomic;
pub use error::EngineError;
pub use home::Home;
pub use injection::{
    Composed, FactFile, HINT_TOKENS_MAX, HINTS_MAX, Hint, Hinted, InjectionRecord, Injector,
    LastStretch, NoteLine, PLAN_TOKENS_MAX, Room, StartParts, Starting, choose_hints, hints_text,
    nudge_text, plan_text, protocol_text, quoted_text, start_text, with_late,
};
pub use intake::{Ingested, Intake, Prepared};
pub use notebooks::{Moved, Notebooks, Whose};
pub use project::{Located, folder_name, locate};
pub use projects::Projects;
pub use reading::{Answer, Question};
pub use recall::{
    Across, DeskReport, Elsewhere, EmbedderReading, EndpointEmbedder, Followed, OwnPrompt, Recall,
    RecallAnswer, RecallHit, RecallQuestion, Stage, Tier, Within, WorkerReport, source_name,
};
pub use session_copy::{COPY, Copied, CopiedLine, CopiesRebuilt, SessionCopies};
pub use spool::{Spool, SpoolFile, SpoolLine, Waiting};
pub use stores::{Store, StoreMode, Stores};
pub use tally::{TALLY, catch_up};
pub use tools::{Caller, Effect, Failure, ToolAnswer, ToolSpec, Tools};
