//! Errors of the agent.

use thiserror::Error;
use tome_llm::ModelFailure;

use crate::MemoryError;

/// The agent could not continue. Everything up to the error is recorded, so the session can be resumed.
#[derive(Debug, Error)]
pub enum AgentError {
    /// Memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelFailure),
    /// A reflection ended early.
    #[error(transparent)]
    Reflect(#[from] crate::ReflectionError),
    /// The system prompt, the tools and the reserved budgets leave no tokens for a conversation.
    #[error(
        "a window of {window} tokens is too small: prompt and tools alone need {needed}; offer fewer tools or raise the window"
    )]
    WindowTooSmall {
        /// The configured context window, in tokens.
        window: u64,
        /// The smallest window that would work, in tokens.
        needed: u64,
    },
}
