//! Citations: the names by which recall points at places, and by which anybody opens them again.
//!
//! ```text
//! messages.jsonl#L45                              an event, in the copy of the session at hand
//! detail/x.md#L10   overview.md#L3                notes of the session at hand
//! sessions/<folder>/messages.jsonl#L45            the same of another session of the project
//! memory/<path>.md#L3                             a note of the project's notebook, wherever it lies
//! coder/<path>.md#L3                              an insight of the coder's notebook
//! toc:day:2026-11-14   grip:1794702485884:01J…    a node, a grip
//! projects/<folder>/…                             any of them, but the coder's, of another project
//! ```
//!
//! Lines are counted from 1. A note's line may be left out: then it is opened from its beginning.
//! What is at hand is up to the [`Viewpoint`]: the same place has a short name near by and a long
//! one from afar. A text that is none of these is refused; nothing is guessed.

mod open;
mod parse;
mod view;

use tome_model::{GripId, NodeId};

pub use open::{Citations, Opened, OpenedPlace};
pub use view::Viewpoint;

/// The name of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Citation {
    /// The folder of another project; none for the one at hand.
    pub project: Option<String>,
    /// What is cited there.
    pub place: CitedPlace,
}

/// What is cited.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitedPlace {
    /// A line of a session's copy.
    Message {
        /// The folder of another session; none for the one at hand.
        session: Option<String>,
        /// The line, from 1.
        line: u32,
    },
    /// A session's note: `overview.md`, `detail/….md`.
    Detail {
        /// The folder of another session; none for the one at hand.
        session: Option<String>,
        /// The note.
        path: String,
        /// The line, from 1.
        line: Option<u32>,
    },
    /// A note of the project's notebook.
    Note {
        /// The note.
        path: String,
        /// The line, from 1.
        line: Option<u32>,
    },
    /// An insight of the coder's notebook.
    Insight {
        /// The note.
        path: String,
        /// The line, from 1.
        line: Option<u32>,
    },
    /// A node of the contents.
    Node(NodeId),
    /// A grip.
    Grip(GripId),
}
