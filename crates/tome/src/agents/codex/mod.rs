//! Codex integration.

pub(super) mod applied_patches;
pub(super) mod hook;
pub(super) mod integration;
pub(super) mod response;
pub(super) mod transcript;
