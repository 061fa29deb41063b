//! Errors of the agent.

use thiserror::Error;
use tome_llm::ModelFailure;

use crate::{MemoryError, ReflectionError, WindowTooSmall};

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
    Reflect(#[from] ReflectionError),
    /// The context window is too small.
    #[error(transparent)]
    WindowTooSmall(#[from] WindowTooSmall),
}
