//! The text for a resumed session. Its context still contains the start text, so this only lists
//! changes since: notes, and sessions that ran meanwhile. Usually there are none.

use tome_model::Millis;

use super::compose::{InjectionText, TextFrame, compose};
use super::section::{TextBlock, TextSection};
use super::session_state::SessionState;
use super::start_text::{NoteLine, index_line, session_block};
use super::token_budget::TokenBudget;
use crate::quote::format_minute;

/// Changes since a session was last active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeParts {
    /// When the session was last active.
    pub since: Millis,
    /// Notes of the project changed since then, the newest first.
    pub notes: Vec<NoteLine>,
    /// Set if the project's notebook is in the repository: the source to name when quoting.
    pub notes_from: Option<String>,
    /// Sessions active since then, the latest first.
    pub sessions: Vec<SessionState>,
}

/// Composes the text for a resumed session; `None` if nothing changed.
pub fn render_resume(parts: &ResumeParts, budget: TokenBudget) -> Option<InjectionText> {
    let sections = [changed_notes_section(parts), other_sessions_section(parts)];
    if sections.iter().all(|section| section.blocks.is_empty()) {
        return None;
    }
    let since = format_minute(parts.since);
    let above = vec![format!(
        "Tome, the memory of this project: changes since this session was last active ({since})."
    )];
    compose(&TextFrame { kind: "resume", above, below: Vec::new() }, &sections, budget)
}

fn changed_notes_section(parts: &ResumeParts) -> TextSection {
    TextSection {
        name: "Changed notes",
        about: "memory_read reads one.".to_owned(),
        blocks: parts.notes.iter().map(index_line).collect(),
        noun: ("note", "notes"),
        rest: "memory_read reads one",
        quoted: parts.notes_from.clone(),
        share: 50,
    }
}

fn other_sessions_section(parts: &ResumeParts) -> TextSection {
    let blocks: Vec<TextBlock> = parts.sessions.iter().map(session_block).collect();
    TextSection {
        name: "Other sessions since then",
        about: String::new(),
        blocks,
        noun: ("session", "sessions"),
        rest: "recall_memory finds more",
        quoted: Some("the record of those sessions".to_owned()),
        share: 50,
    }
}
