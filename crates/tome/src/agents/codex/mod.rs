//! Codex: all that Tome knows about it.

pub(super) mod answer;
pub(super) mod hook;
