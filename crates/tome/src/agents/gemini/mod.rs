//! Gemini CLI integration.

pub(super) mod hook;
pub(super) mod integration;
pub(super) mod response;
pub(super) mod transcript;
