//! The core of Tome: captures events, assigns them to projects and derives everything else from
//! them.
//!
//! This crate uses no socket, command line, environment or wall clock: the caller provides a home
//! folder, settings and a `Clock`.

mod capture;
mod engine;
mod injection;
mod intake;
mod quote;
mod spool;
mod spool_line;
mod tools;
pub mod triggers;

pub use capture::Sealer;
pub use engine::{Engine, EngineSettings};
pub use injection::{
    CORE_TOOLS, Composed, FactFile, HINT_TOKENS_MAX, HINTS_MAX, Hint, Hinted, InjectionRecord,
    Injector, NoteLine, PLAN_TOKENS_MAX, ResumeParts, Room, SessionState, StartMoment, StartParts,
    Starting, choose_hints, damage_of_injections, hints_text, memory_rules, nudge_text, plan_text,
    protocol_text, resume_text, start_text, with_late,
};
pub use intake::{Ingested, Intake, Prepared};
pub use quote::{fenced_body, neutralize, quoted_text};
pub use spool::{Spool, SpoolFile, SpoolLine, Waiting};
pub use spool_line::{read_line as read_spool_line, write_line as write_spool_line};
pub use tools::{Caller, Effect, Failure, ToolAnswer, ToolSpec, Tools};
