//! Errors of a memory.

use thiserror::Error;
use tome_home::HomeError;
use tome_model::InvalidInput;
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
    /// The input is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidInput),
    /// The memory cannot be reached, opened or written.
    #[error("memory is unavailable: {0}")]
    Unavailable(String),
    /// No daemon is running, and this memory does not start one. The call has not changed anything,
    /// or may be repeated.
    #[error("memory is unavailable: the daemon is not running")]
    NotRunning,
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
