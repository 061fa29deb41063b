//! Claude Code: its hooks and its transcripts.

pub(super) mod hook;
mod queued_prompts;
pub(super) mod response;
mod session_titles;
pub(super) mod transcript;
