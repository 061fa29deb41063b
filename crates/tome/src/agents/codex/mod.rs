//! Codex: its hooks and its transcripts.

pub(super) mod applied_patches;
pub(super) mod hook;
pub(super) mod response;
mod tool_output;
pub(super) mod transcript;
