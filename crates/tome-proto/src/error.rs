//! What can go wrong between a client and the daemon.

use thiserror::Error;
use tonic::{Code, Status};

/// A call that did not succeed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody answers there.
    #[error("the daemon cannot be reached: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("the daemon did not answer within {0} ms")]
    TimedOut(u128),
    /// The daemon looked and there is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The daemon does not take what was sent.
    #[error("{0}")]
    Invalid(String),
    /// Something is not as the caller expected: it was changed meanwhile, or is there already.
    #[error("{0}")]
    Conflict(String),
    /// The token is missing or wrong.
    #[error("{0}")]
    Unauthorized(String),
    /// The daemon tried and failed.
    #[error("{0}")]
    Failed(String),
    /// The daemon sent something that cannot be understood.
    #[error("the daemon's answer makes no sense: {0}")]
    Garbled(String),
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let message = status.message().to_owned();
        // A connection that broke comes as "unknown", with the transport's error inside.
        let cause = std::error::Error::source(&status);
        if cause.and_then(|cause| cause.downcast_ref::<tonic::transport::Error>()).is_some() {
            return Self::Unreachable(message);
        }
        match status.code() {
            Code::NotFound => Self::NotFound(message),
            Code::InvalidArgument | Code::OutOfRange => Self::Invalid(message),
            Code::AlreadyExists | Code::FailedPrecondition => Self::Conflict(message),
            Code::Unauthenticated | Code::PermissionDenied => Self::Unauthorized(message),
            Code::Unavailable | Code::Cancelled => Self::Unreachable(message),
            Code::DeadlineExceeded => Self::TimedOut(0),
            _ => Self::Failed(message),
        }
    }
}
