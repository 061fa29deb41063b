//! Failures of a model call, grouped by how a caller should react.

use std::time::Duration;

use thiserror::Error;

/// A failed model call. Never contains the key or the prompt; foreign text is shortened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelFailure {
    /// The endpoint is overloaded or limits the rate (429, 503, 529).
    #[error("the model is busy: {said}")]
    Busy {
        /// How long the endpoint asks to wait.
        retry_after: Option<Duration>,
        /// The endpoint's message.
        said: String,
    },
    /// The endpoint cannot be reached, or failed internally.
    #[error("the model cannot be reached: {said}")]
    Down {
        /// The cause.
        said: String,
    },
    /// The reply began but was interrupted.
    #[error("the reply broke off: {said}")]
    BrokenOff {
        /// The cause.
        said: String,
    },
    /// The call took too long.
    #[error("the model gave no answer within {} s: raise the timeout or use a faster model", after.as_secs_f32())]
    TimedOut {
        /// The timeout that expired.
        after: Duration,
    },
    /// The model refused to answer.
    #[error("the model refused: {said}")]
    Refused {
        /// The model's explanation.
        said: String,
    },
    /// The answer reached the token limit.
    #[error("the answer was cut off after {tokens_max} tokens")]
    Truncated {
        /// The token limit.
        tokens_max: u32,
    },
    /// The response does not follow the protocol.
    #[error("the answer cannot be read: {said}")]
    Malformed {
        /// What is wrong with the response.
        said: String,
    },
    /// The API key is missing or wrong (401, 403).
    #[error("the endpoint rejected the API key: {said}")]
    Unauthorized {
        /// The endpoint's message.
        said: String,
    },
    /// The model or the endpoint does not exist.
    #[error("no such model or endpoint: {said}")]
    NotFound {
        /// The endpoint's message.
        said: String,
    },
    /// The endpoint rejected the request (400, 413, …); retrying does not help.
    #[error("the endpoint rejected the request ({status}): {said}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The endpoint's message.
        said: String,
    },
    /// The conversation exceeds the model's context window.
    #[error("the conversation exceeds the model's context window: {said}")]
    ContextTooLong {
        /// The endpoint's message.
        said: String,
    },
    /// The command could not be started.
    #[error("cannot start {program}: {cause}")]
    CommandMissing {
        /// The program.
        program: String,
        /// The cause.
        cause: String,
    },
    /// The command exited with an error.
    #[error("{program} failed ({status}): {said}")]
    CommandFailed {
        /// The program.
        program: String,
        /// Its exit status, or the signal that killed it.
        status: String,
        /// The end of its stderr.
        said: String,
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
    #[error("the model was not called because its cost cannot be recorded: {said}")]
    Uncounted {
        /// The cause.
        said: String,
    },
    /// The settings are invalid.
    #[error("{0}")]
    Misconfigured(String),
    /// The call was cancelled.
    #[error("cancelled before there was an answer")]
    Stopped,
}

impl ModelFailure {
    /// Whether retrying the same call may succeed.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Down { .. } | Self::BrokenOff { .. } | Self::TimedOut { .. }
        )
    }

    /// The text that came from a server or a command, if any.
    pub(crate) fn said_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Busy { said, .. }
            | Self::BrokenOff { said }
            | Self::Down { said }
            | Self::Refused { said }
            | Self::Malformed { said }
            | Self::Unauthorized { said }
            | Self::NotFound { said }
            | Self::Rejected { said, .. }
            | Self::ContextTooLong { said }
            | Self::CommandFailed { said, .. } => Some(said),
            Self::TimedOut { .. }
            | Self::Truncated { .. }
            | Self::CommandMissing { .. }
            | Self::OverBudget { .. }
            | Self::Uncounted { .. }
            | Self::Misconfigured(_)
            | Self::Stopped => None,
        }
    }

    /// Whether the provider may bill the call although it failed.
    pub fn may_have_cost(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. }
                | Self::BrokenOff { .. }
                | Self::Refused { .. }
                | Self::Truncated { .. }
                | Self::Malformed { .. }
                | Self::Stopped
        )
    }
}
