//! The note tools: list, view, read; write, append, patch, update, delete.
//!
//! The answer follows the call: with `filename` or `memory_type` it is a sentence (`Memory saved:
//! f`), with `path` and `content` it is JSON.

mod change;
mod look;

pub(super) use change::{append, delete, patch, update, write};
pub(super) use look::{list, read, view};

/// Names of the path argument.
const PATH: &[&str] = &["path", "filename"];
/// The same for tools whose primary name is `filename`.
const FILENAME: &[&str] = &["filename", "path"];
