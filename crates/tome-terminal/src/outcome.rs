//! How a command ends: its exit code and, if it failed, a message and a hint.

use thiserror::Error;

/// The result of a command that ran to its end; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// The operation failed or found problems: exit code 1.
    Failed,
    /// Some of the input was rejected: exit code 2.
    BadInput,
}

/// An error with an exit code and, optionally, a hint on what to do next.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct CommandError {
    /// The problem; the next step is in `hint`.
    pub message: String,
    /// The exit code.
    pub code: u8,
    /// The next step for the user.
    pub hint: Option<String>,
}

impl CommandError {
    /// Invalid arguments or input.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2, hint: None }
    }

    /// The operation failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1, hint: None }
    }

    /// The requested item does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 4, hint: None }
    }

    /// Adds a hint: what the user can do about the error.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
