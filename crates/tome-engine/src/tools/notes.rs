//! The note tools: list, view, read; write, append, patch, update, delete.
//!
//! Sentences (`Memory saved: f`) come from update, delete, and a write with `filename`, `name` or
//! `memory_type`; append, patch and any other write answer with JSON.

mod read;
mod write;

pub(super) use read::{list, read, view};
pub(super) use write::{append, delete, patch, update, write};

/// Names of the path argument.
const PATH_NAMES: &[&str] = &["path", "filename"];
/// The same for tools whose primary name is `filename`.
const FILENAME_NAMES: &[&str] = &["filename", "path"];
