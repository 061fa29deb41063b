//! Builds the text that Tome injects into an agent's context, within a hard token budget.
//!
//! `token_budget`, `section` and `compose` are pure: lines in, a text within its budget out.
//! `start_text`, `resume`, `hints`, `trigger_text`, `edit_decision`, `subagent` and `rules` define the texts;
//! `session_state`, `open_work` and `known` describe a session. `gather` reads the sources, `injector`
//! puts the steps together, `injection_state`
//! stores what a session was given, and `injection_log` logs injections. Deadlines are the caller's:
//! every step can be skipped.

mod checks;
mod choice_text;
mod compose;
mod edit_decision;
mod fact_line;
mod gather;
mod hints;
mod injection_log;
mod injection_state;
mod injector;
mod known;
mod open_work;
mod resume;
mod rules;
mod section;
mod session_state;
mod start_text;
mod subagent;
#[cfg(test)]
mod tests;
mod token_budget;
mod trigger_text;

pub use compose::InjectionText;
pub use edit_decision::{DECISION_TOKENS_MAX, EditLookup, FileEdit};
pub use gather::{StartKind, StartRequest};
pub use hints::{
    HINT_TOKENS_MAX, HINTS_MAX, PromptHint, append_late_hints, choose_hints, render_hints,
};
pub use injection_log::InjectionRecord;
pub use injection_log::damage_of_injections;
pub use injection_state::{SessionHints, SubagentTask};
pub use injector::Injector;
pub use known::{EarlierWork, KnownFacts};
pub use resume::{ResumeParts, render_resume};
pub use rules::memory_rules;
pub use session_state::SessionState;
pub use start_text::{FactFile, NoteLine, StartParts, render_rules, render_start};
pub use subagent::{SUBAGENT_TOKENS_MAX, render_subagent};
pub use token_budget::TokenBudget;
pub use trigger_text::{PLAN_TOKENS_MAX, render_plan_lessons, render_short_injection};
