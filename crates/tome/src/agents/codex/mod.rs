//! Codex: its hooks and its transcripts.

pub(super) mod applied_patches;
pub(super) mod hook;
pub(super) mod response;
pub(super) mod transcript;
