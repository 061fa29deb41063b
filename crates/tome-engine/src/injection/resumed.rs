//! The text for a session that is resumed. Its context still holds what it was told at its start, so
//! only what changed since is told: notes, and sessions that ran meanwhile. Usually that is nothing.

use tome_model::Millis;

use super::compose::{Composed, Frame, compose};
use super::piece::{Block, Piece};
use super::room::Room;
use super::session_state::SessionState;
use super::start::{NoteLine, index_line, minute, session_block};

/// Changes since a session was last active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeParts {
    /// When the session was active last.
    pub since: Millis,
    /// Notes of the project that were changed since, the newest first.
    pub notes: Vec<NoteLine>,
    /// Whether the project's notebook lies in the repository.
    pub notes_from: Option<String>,
    /// Sessions that were active since, the latest first.
    pub sessions: Vec<SessionState>,
}

/// The text for a resumed session; `None` where nothing changed.
pub fn resume_text(parts: &ResumeParts, room: Room) -> Option<Composed> {
    let pieces = [notes(parts), sessions(parts)];
    if pieces.iter().all(|piece| piece.blocks.is_empty()) {
        return None;
    }
    let since = minute(parts.since);
    let above = vec![format!(
        "Tome, the memory of this project: since this session was active last ({since}), this changed."
    )];
    compose(&Frame { kind: "resume", above, below: Vec::new() }, &pieces, room)
}

fn notes(parts: &ResumeParts) -> Piece {
    Piece {
        name: "Notes that changed",
        about: "memory_read reads one.".to_owned(),
        blocks: parts.notes.iter().map(index_line).collect(),
        noun: ("note", "notes"),
        rest: "memory_read reads one",
        quoted: parts.notes_from.clone(),
        share: 50,
    }
}

fn sessions(parts: &ResumeParts) -> Piece {
    let blocks: Vec<Block> = parts.sessions.iter().map(session_block).collect();
    Piece {
        name: "Other sessions meanwhile",
        about: String::new(),
        blocks,
        noun: ("session", "sessions"),
        rest: "recall_memory finds more",
        quoted: Some("the record of those sessions".to_owned()),
        share: 50,
    }
}
