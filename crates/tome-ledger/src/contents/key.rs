//! Keys of the contents; see `mod.rs` for their layout.

use std::ops::Bound;

use tome_model::{GripId, NodeId, SessionId};

use crate::{Mark, Span, key};

const END: &[u8] = &[0];
const SESSION: &[u8] = b"session:";

/// The prefix of all keys of a project.
pub(super) fn project(project: &str) -> Vec<u8> {
    [project.as_bytes(), END].concat()
}

pub(super) fn head(project: &str, id: &NodeId) -> Vec<u8> {
    under(project, id.as_str())
}

/// The prefix of all node headers whose ids begin with `prefix`.
pub(super) fn heads(project: &str, prefix: &str) -> Vec<u8> {
    // Nodes only: this family also contains the segments of sessions.
    under(project, if prefix.is_empty() { "toc:" } else { prefix })
}

pub(super) fn version(project: &str, id: &NodeId, version: u32) -> Vec<u8> {
    [versions(project, id).as_slice(), &version.to_be_bytes()].concat()
}

pub(super) fn versions(project: &str, id: &NodeId) -> Vec<u8> {
    [head(project, id).as_slice(), END].concat()
}

pub(super) fn grip(project: &str, id: &GripId) -> Vec<u8> {
    under(project, id.as_str())
}

pub(super) fn stretches(project: &str, session: &SessionId) -> Vec<u8> {
    [project.as_bytes(), END, SESSION, session.as_str().as_bytes(), END].concat()
}

pub(super) fn stretch(project: &str, session: &SessionId, first: Mark) -> Vec<u8> {
    [stretches(project, session).as_slice(), &key::mark(first.at, first.seq)].concat()
}

/// The range of keys that begin with `prefix` and come after `after`.
pub(super) fn behind(prefix: &[u8], after: Option<Vec<u8>>) -> Span {
    let mut span = Span::prefix(prefix);
    if let Some(after) = after.filter(|after| after.as_slice() >= prefix) {
        span.from = Bound::Excluded(after);
    }
    span
}

/// Parses the project name at the beginning of a key.
pub(super) fn project_of(key: &[u8]) -> Option<&str> {
    let end = key.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(key.get(..end)?).ok()
}

fn under(project: &str, id: &str) -> Vec<u8> {
    [project.as_bytes(), END, id.as_bytes()].concat()
}
