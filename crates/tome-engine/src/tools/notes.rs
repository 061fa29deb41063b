//! The tools over notes: list, view, read; write, append, patch, update, delete.
//!
//! They answer in the words of the shape they were called in: `filename` and `memory_type` get a
//! sentence (`Memory saved: f`), `path` and `content` get JSON.

mod change;
mod look;

pub(super) use change::{append, delete, patch, update, write};
pub(super) use look::{list, read, view};

/// The names that a note's path goes by.
const PATH: &[&str] = &["path", "filename"];
/// The same where the sentence-shaped tools come first.
const FILENAME: &[&str] = &["filename", "path"];
