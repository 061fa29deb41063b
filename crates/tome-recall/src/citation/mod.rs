//! Citations: stable names for events, notes and nodes, which recall returns and `tome show` opens.
//!
//! ```text
//! #123                                            an event by its number in the project
//! messages.jsonl#L45                              an event in the transcript of the current session
//! detail/x.md#L10   overview.md#L3                notes of the current session
//! sessions/<folder>/messages.jsonl#L45            the same in another session of the project
//! memory/<path>.md#L3                             a note of the project's notebook, wherever it is stored
//! coder/<path>.md#L3                              a lesson of the coder's notebook
//! toc:day:2026-11-14   grip:1794702485884:01J…    a node, a source
//! projects/<folder>/…                             any of the above except coder/, in another project
//! ```
//!
//! Lines count from 1. A note's line is optional; without it, the note opens at its beginning. What
//! is current depends on the [`Viewpoint`]: the same record has a short name from inside its
//! session and a longer one from elsewhere. Any other text is rejected.

mod open;
mod parse;
mod viewpoint;

use tome_model::{GripId, NodeId};

pub use open::{Citations, CitedContent, OpenedCitation};
pub use viewpoint::Viewpoint;

/// The address of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Citation {
    /// Folder of the project; `None` for the current one.
    pub project: Option<String>,
    /// The record.
    pub target: CitationTarget,
}

/// The cited record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitationTarget {
    /// An event by its number in the project's ledger.
    Event(u64),
    /// A line of a session's transcript.
    Message {
        /// Folder of the session; `None` for the current one.
        session: Option<String>,
        /// Counted from 1.
        line: u32,
    },
    /// A session's note: `overview.md` or `detail/….md`.
    Detail {
        /// Folder of the session; `None` for the current one.
        session: Option<String>,
        /// Path of the note.
        path: String,
        /// Counted from 1.
        line: Option<u32>,
    },
    /// A note of the project's notebook.
    Note {
        /// Path of the note.
        path: String,
        /// Counted from 1.
        line: Option<u32>,
    },
    /// A lesson of the coder's notebook.
    Lesson {
        /// Path of the note.
        path: String,
        /// Counted from 1.
        line: Option<u32>,
    },
    /// A node of the contents.
    Node(NodeId),
    /// A source of a bullet.
    Grip(GripId),
}
