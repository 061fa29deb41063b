//! Failures of a model call, grouped by how a caller should react.

use std::time::Duration;

use thiserror::Error;

/// A failed model call. Never contains the key or the prompt; foreign text is shortened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelFailure {
    /// The endpoint is overloaded or limits the rate (429, 503, 529).
    #[error("the model is busy: {message}")]
    Overloaded {
        /// How long the endpoint asks to wait.
        retry_after: Option<Duration>,
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint cannot be reached, or failed internally.
    #[error("the model cannot be reached: {message}")]
    Unreachable {
        /// The cause.
        message: String,
    },
    /// The reply began but was interrupted.
    #[error("the reply broke off: {message}")]
    Interrupted {
        /// The cause.
        message: String,
    },
    /// The call took too long.
    #[error("the model gave no answer within {} s: raise the timeout or use a faster model", after.as_secs_f32())]
    TimedOut {
        /// The timeout that expired.
        after: Duration,
    },
    /// The model refused to answer.
    #[error("the model refused: {message}")]
    Refused {
        /// The model's explanation.
        message: String,
    },
    /// The answer reached the token limit.
    #[error("the answer was cut off after {tokens_max} tokens")]
    Truncated {
        /// The token limit.
        tokens_max: u32,
    },
    /// The response does not follow the protocol.
    #[error("the answer cannot be read: {message}")]
    Malformed {
        /// The problem with the response.
        message: String,
    },
    /// The API key is missing or wrong (401, 403).
    #[error("the endpoint rejected the API key: {message}")]
    Unauthorized {
        /// The endpoint's message.
        message: String,
    },
    /// The model or the endpoint does not exist.
    #[error("no such model or endpoint: {message}")]
    NotFound {
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint rejected the request (400, 413, …); retrying does not help.
    #[error("the endpoint rejected the request ({status}): {message}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The endpoint's message.
        message: String,
    },
    /// The conversation exceeds the model's context window.
    #[error("the conversation exceeds the model's context window: {message}")]
    ContextTooLong {
        /// The endpoint's message.
        message: String,
    },
    /// The command could not be started.
    #[error("cannot start {program}: {cause}")]
    SpawnFailed {
        /// The program.
        program: String,
        /// The cause.
        cause: String,
    },
    /// The command exited with an error.
    #[error("{program} failed ({status}): {message}")]
    CommandFailed {
        /// The program.
        program: String,
        /// Its exit status, or the signal that killed it.
        status: String,
        /// The end of its stderr.
        message: String,
    },
    /// The call would exceed the daily token budget.
    #[error("{spent} of today's {budget} tokens are spent and this call needs about {needed}")]
    OverBudget {
        /// Tokens used and reserved today.
        spent: u64,
        /// The daily budget.
        budget: u64,
        /// Tokens this call may use.
        needed: u64,
    },
    /// The budget's owner cannot be reached, so the call was not made.
    #[error("the model was not called because its cost cannot be recorded: {message}")]
    BudgetUnavailable {
        /// The cause.
        message: String,
    },
    /// The settings are invalid.
    #[error("{0}")]
    Misconfigured(String),
    /// The call was cancelled.
    #[error("cancelled before there was an answer")]
    Cancelled,
}

impl ModelFailure {
    /// Whether retrying the same call may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Overloaded { .. }
                | Self::Unreachable { .. }
                | Self::Interrupted { .. }
                | Self::TimedOut { .. }
        )
    }

    /// The text that came from a server or a command, if any.
    pub(crate) fn message_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Overloaded { message, .. }
            | Self::Interrupted { message }
            | Self::Unreachable { message }
            | Self::Refused { message }
            | Self::Malformed { message }
            | Self::Unauthorized { message }
            | Self::NotFound { message }
            | Self::Rejected { message, .. }
            | Self::ContextTooLong { message }
            | Self::CommandFailed { message, .. } => Some(message),
            Self::TimedOut { .. }
            | Self::Truncated { .. }
            | Self::SpawnFailed { .. }
            | Self::OverBudget { .. }
            | Self::BudgetUnavailable { .. }
            | Self::Misconfigured(_)
            | Self::Cancelled => None,
        }
    }

    /// Whether the provider may bill the call although it failed.
    pub fn may_be_billed(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. }
                | Self::Interrupted { .. }
                | Self::Refused { .. }
                | Self::Truncated { .. }
                | Self::Malformed { .. }
                | Self::Cancelled
        )
    }
}
