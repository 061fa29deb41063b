//! Keys of the contents; see `mod.rs` for their layout.

use std::ops::Bound;

use tome_model::{GripId, NodeId, SessionId};

use crate::{KeyRange, OrderKey, key};

const END: &[u8] = &[0];
const SESSION: &[u8] = b"session:";

/// The prefix of all keys of a project.
pub(super) fn project_prefix(project: &str) -> Vec<u8> {
    [project.as_bytes(), END].concat()
}

pub(super) fn header_key(project: &str, id: &NodeId) -> Vec<u8> {
    project_key(project, id.as_str())
}

/// The prefix of all node headers whose ids begin with `prefix`.
pub(super) fn headers_prefix(project: &str, prefix: &str) -> Vec<u8> {
    // Nodes only: this family also contains the segments of sessions.
    project_key(project, if prefix.is_empty() { "toc:" } else { prefix })
}

pub(super) fn version_key(project: &str, id: &NodeId, version: u32) -> Vec<u8> {
    [versions_prefix(project, id).as_slice(), &version.to_be_bytes()].concat()
}

pub(super) fn versions_prefix(project: &str, id: &NodeId) -> Vec<u8> {
    [header_key(project, id).as_slice(), END].concat()
}

pub(super) fn grip_key(project: &str, id: &GripId) -> Vec<u8> {
    project_key(project, id.as_str())
}

pub(super) fn segments_prefix(project: &str, session: &SessionId) -> Vec<u8> {
    [project.as_bytes(), END, SESSION, session.as_str().as_bytes(), END].concat()
}

pub(super) fn segment_key(project: &str, session: &SessionId, first: OrderKey) -> Vec<u8> {
    [segments_prefix(project, session).as_slice(), &key::order_prefix(first.at, first.seq)].concat()
}

/// The range of keys that begin with `prefix` and come after `after`.
pub(super) fn range_after(prefix: &[u8], after: Option<Vec<u8>>) -> KeyRange {
    let mut span = KeyRange::prefix(prefix);
    if let Some(after) = after.filter(|after| after.as_slice() >= prefix) {
        span.from = Bound::Excluded(after);
    }
    span
}

/// Parses the project name at the beginning of a key.
pub(super) fn parse_project(key: &[u8]) -> Option<&str> {
    let end = key.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(key.get(..end)?).ok()
}

fn project_key(project: &str, id: &str) -> Vec<u8> {
    [project.as_bytes(), END, id.as_bytes()].concat()
}
