//! The notebook: Markdown files that are the truth, whoever wrote them, with an index that is always
//! what a rebuild would give and a history from which every version can be got back.
//!
//! This crate works on a plain folder. It knows no daemon, no socket, no ledger, no tool's arguments.

mod coder;
mod error;
#[allow(dead_code)]
mod frontmatter;
pub mod limits;
#[allow(dead_code)]
mod line;
mod notebook;
#[allow(dead_code)]
mod session;
#[allow(dead_code)]
mod summary;
#[allow(dead_code)]
mod title;
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
