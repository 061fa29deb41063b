//! Codex: its hooks and its transcripts.

pub(super) mod applied_patches;
mod code_mode;
pub(super) mod hook;
pub(super) mod response;
mod running_commands;
mod script;
mod tool_call;
mod tool_output;
pub(super) mod transcript;
