//! Errors of the agent and of its memory.

use thiserror::Error;
use tome_home::HomeError;
use tome_llm::ModelFailure;
use tome_model::ModelError;
use tome_redact::PatternError;

/// A memory operation failed. A tool that rejects its arguments returns an answer instead.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] HomeError),
    /// A redaction pattern is not a valid regular expression.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// What was handed over cannot be taken.
    #[error(transparent)]
    Invalid(#[from] ModelError),
    /// The memory cannot be reached, opened or written.
    #[error("memory is unavailable: {0}")]
    Unavailable(String),
    /// The memory has no tool with this name.
    #[error("memory has no tool {0:?}")]
    UnknownTool(String),
    /// A tool call that had to succeed was rejected.
    #[error("{tool} refused: {message}")]
    Refused {
        /// The tool's name.
        tool: &'static str,
        /// The tool's error text.
        message: String,
    },
}

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
