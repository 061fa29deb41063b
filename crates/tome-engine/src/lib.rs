//! The core of Tome: captures events, assigns them to projects and derives everything else from
//! them.
//!
//! This crate uses no socket, command line, environment or wall clock: the caller provides a home
//! folder, settings and a `Clock`.

mod calendar;
mod capture;
mod citation;
mod contents;
mod damage;
mod durable;
mod error;
mod git;
mod home;
mod in_repository;
mod injection;
mod intake;
mod io_timeout;
mod merge_sessions;
mod notebooks;
mod project;
mod project_file;
mod projects;
mod quote;
mod reading;
mod recall;
mod regular_file;
mod session_copy;
mod session_index;
mod spool;
mod spool_line;
mod stores;
mod tally;
mod tools;
pub mod triggers;

pub use calendar::{
    Ask, Calendar, Depth, Entries, EntriesPage, Entry, NodeInPlace, Share, StoreChecked,
    StoreRebuilt, StoreReport, entries_at,
};
pub use capture::Sealer;
pub use citation::{Citation, Citations, CitedPlace, Opened, OpenedPlace, Viewpoint};
pub use contents::{
    CONTENTS, CaughtUp, ContentsSettings, EXTRACTIVE, Evidence, Expanded, Extractive, Found,
    ModelSummarizer, Rebuilt, Replaced, Report, RollupInput, Segment, SegmentInput, Source,
    Summarizer, Summary, SummaryBullet, SummaryError, Support, Unpolished, Weight,
    catch_up_contents, rebuild_contents, replace_summary, said, segments, source_of, unpolished,
    verify_contents, weigh,
};
pub use damage::Damage;
pub use durable::write_atomic;
pub use error::EngineError;
pub use home::Home;
pub use injection::{
    CORE_TOOLS, Composed, FactFile, HINT_TOKENS_MAX, HINTS_MAX, Hint, Hinted, InjectionRecord,
    Injector, NoteLine, PLAN_TOKENS_MAX, ResumeParts, Room, SessionState, StartMoment, StartParts,
    Starting, choose_hints, hints_text, memory_rules, nudge_text, plan_text, protocol_text,
    resume_text, start_text, with_late,
};
pub use intake::{Ingested, Intake, Prepared};
pub use io_timeout::TimedCalls;
pub use merge_sessions::{MergedSession, MergedSessions};
pub use notebooks::{Moved, Notebooks, Whose};
pub use project::{Located, folder_name, locate, locate_within};
pub use projects::{Projects, project_root};
pub use quote::{fenced_body, neutralize, quoted_text};
pub use reading::{Answer, Question};
pub use recall::{
    Across, DeskReport, Elsewhere, EmbedderReading, EndpointEmbedder, Followed, OwnPrompt, Recall,
    RecallAnswer, RecallHit, RecallQuestion, Stage, Tier, Within, WorkerReport, is_worth_searching,
    source_name,
};
pub use regular_file::{FinalLink, open_regular, read_regular, read_regular_text};
pub use session_copy::{COPY, Copied, CopiedLine, CopiesRebuilt, SessionCopies};
pub use session_index::{SessionIndex, SplitSession};
pub use spool::{Spool, SpoolFile, SpoolLine, Waiting};
pub use spool_line::{read_line as read_spool_line, write_line as write_spool_line};
pub use stores::{Store, StoreMode, Stores};
pub use tally::{TALLY, catch_up};
pub use tome_redact::{OwnPattern, PatternError as CaptureError, Redactor};
pub use tools::{Caller, Effect, Failure, ToolAnswer, ToolSpec, Tools};
