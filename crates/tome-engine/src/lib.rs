//! The core of Tome: captures events, assigns them to projects and derives everything else from
//! them.
//!
//! This crate uses no socket, command line, environment or wall clock: the caller provides a home
//! folder, settings and a `Clock`.

pub mod backup;
mod engine;
mod injection;
mod intake;
mod lessons;
mod project_merge;
mod quote;
mod sealer;
mod spool;
mod spool_line;
mod tools;
mod topics;
pub mod triggers;

pub use engine::{Engine, EngineSettings};
pub use injection::{
    DECISION_TOKENS_MAX, EarlierWork, EditLookup, FactFile, FileEdit, HINT_TOKENS_MAX, HINTS_MAX,
    InjectionRecord, InjectionText, Injector, KnownFacts, NoteLine, PLAN_TOKENS_MAX, PromptHint,
    ResumeParts, SUBAGENT_TOKENS_MAX, SessionHints, SessionState, StartKind, StartParts,
    StartRequest, SubagentTask, TokenBudget, append_late_hints, choose_hints, damage_of_injections,
    memory_rules, render_hints, render_plan_lessons, render_resume, render_rules,
    render_short_injection, render_start, render_subagent,
};
pub use intake::{IngestResult, Intake, PreparedDrafts};
pub use lessons::{LessonQuery, LessonRecall, RecalledLesson};
pub use project_merge::MergedProject;
pub use quote::{neutralize_markers, quote_text, strip_fence};
pub use sealer::Sealer;
pub use spool::{Spool, SpoolCounts, SpoolFile, SpoolLine, try_lock_file};
pub use spool_line::{parse_spool_line, render_spool_line};
pub use tools::{
    CORE_TOOLS, Caller, DEFAULT_TOOLSET, ToolAnswer, ToolEffect, ToolFailure, ToolSpec, Tools,
    Toolsets,
};
pub use topics::{TOPICS_PROJECTION, Topics, path_in_project};
