//! Codex integration.

pub(super) mod answer;
pub(super) mod hook;
pub(super) mod intercepted;
pub(super) mod transcript;
pub(super) mod wiring;
