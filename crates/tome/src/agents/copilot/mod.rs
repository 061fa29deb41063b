//! Copilot CLI: its hooks and its transcripts.

pub(super) mod hook;
pub(super) mod response;
pub(super) mod transcript;
pub(super) mod turn;
