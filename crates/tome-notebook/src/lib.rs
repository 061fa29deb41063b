//! The notebook: Markdown files that are the truth, whoever wrote them, with an index that is always
//! what a rebuild would give and a history from which every version can be got back.
//!
//! This crate works on a plain folder. It knows no daemon, no socket, no ledger, no tool's arguments.

mod coder;
mod error;
mod frontmatter;
pub mod limits;
mod notebook;
mod session;
mod summary;
mod words;

pub use coder::{
    Ask, Decision, Finding, InsightDraft, InsightKind, Recalled, RecalledInsight, Stored, Tidied,
};
pub use error::NotebookError;
pub use notebook::Notebook;
pub use words::{
    Author, Listed, Note, NoteKind, NoteType, Op, Patch, Prompt, Rules, Typed, Version, Who,
    Written,
};
