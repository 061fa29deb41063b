//! Why a model gave no answer. The variants are what a caller does next, not where it went wrong.

use std::time::Duration;

use thiserror::Error;

/// A call that brought no answer. Never holds a key or a prompt; what a server or a command said
/// is cut short.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelFailure {
    /// Too much asked of it at present (429, 503, 529).
    #[error("the model is busy: {said}")]
    Busy {
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
        /// What it said.
        said: String,
    },
    /// It cannot be reached, or is broken at its end.
    #[error("the model cannot be reached: {said}")]
    Down {
        /// What happened.
        said: String,
    },
    /// The reply began, and broke off before its end.
    #[error("the reply broke off: {said}")]
    BrokenOff {
        /// What happened.
        said: String,
    },
    /// It took too long.
    #[error("the model gave no answer within {} s: raise the time-out or use a quicker model", after.as_secs_f32())]
    TimedOut {
        /// How long it was given.
        after: Duration,
    },
    /// It does not want to answer this.
    #[error("the model refused: {said}")]
    Refused {
        /// What it said.
        said: String,
    },
    /// The answer did not fit.
    #[error("the answer was cut off after {tokens_max} tokens")]
    Truncated {
        /// The room it had.
        tokens_max: u32,
    },
    /// What came back is no answer of this protocol.
    #[error("the answer cannot be read: {said}")]
    Malformed {
        /// What is wrong with it.
        said: String,
    },
    /// The key is missing or wrong (401, 403).
    #[error("the model's endpoint wants another key: {said}")]
    Unauthorized {
        /// What it said.
        said: String,
    },
    /// There is no such model or endpoint.
    #[error("no such model or endpoint: {said}")]
    NotFound {
        /// What it said.
        said: String,
    },
    /// The endpoint does not take this request (400, 413 …): asking the same again is of no use.
    #[error("the endpoint did not take the request ({status}): {said}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is longer than the model can read: {said}")]
    ContextTooLong {
        /// What it said.
        said: String,
    },
    /// The command could not be started.
    #[error("cannot start {program}: {cause}")]
    CommandMissing {
        /// Which.
        program: String,
        /// Why not.
        cause: String,
    },
    /// The command ran and failed.
    #[error("{program} failed ({status}): {said}")]
    CommandFailed {
        /// Which.
        program: String,
        /// Its exit status, or the signal that ended it.
        status: String,
        /// The end of what it wrote to stderr.
        said: String,
    },
    /// The day's budget of tokens does not allow this call.
    #[error("{spent} of today's {budget} tokens are spent and this call needs about {needed}")]
    OverBudget {
        /// Used and reserved today.
        spent: u64,
        /// What a day may cost.
        budget: u64,
        /// What this call may cost.
        needed: u64,
    },
    /// Whoever counts what calls cost cannot be asked, so the call was not made.
    #[error("the model was not asked, because its cost cannot be counted: {said}")]
    Uncounted {
        /// What happened.
        said: String,
    },
    /// The settings cannot work.
    #[error("{0}")]
    Misconfigured(String),
    /// The caller is on its way out.
    #[error("stopped before there was an answer")]
    Stopped,
}

impl ModelFailure {
    /// Whether the same call may well succeed in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Down { .. } | Self::BrokenOff { .. } | Self::TimedOut { .. }
        )
    }

    /// What somebody else said, where it is in here.
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

    /// Whether the model may have worked, and may have to be paid, although there is no answer.
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
