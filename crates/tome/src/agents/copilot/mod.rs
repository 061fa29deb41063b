//! Copilot CLI: all that Tome knows about it.

pub(super) mod answer;
pub(super) mod hook;
pub(super) mod transcript;
pub(super) mod turn;
pub(super) mod wiring;
