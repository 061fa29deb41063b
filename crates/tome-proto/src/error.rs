//! Errors of calls to the daemon.

use thiserror::Error;
use tonic::{Code, Status};

/// A failed call.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The daemon is not running or the connection broke.
    #[error("the daemon cannot be reached: {0}")]
    Unreachable(String),
    /// No response in time.
    #[error("the daemon did not answer within {0} ms")]
    TimedOut(u128),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The daemon rejected the request.
    #[error("{0}")]
    Invalid(String),
    /// The state is not as the caller expected: it changed meanwhile, or already exists.
    #[error("{0}")]
    Conflict(String),
    /// The token is missing or wrong.
    #[error("{0}")]
    Unauthorized(String),
    /// The daemon failed.
    #[error("{0}")]
    Failed(String),
    /// The response could not be parsed.
    #[error("cannot parse the daemon's answer: {0}")]
    Malformed(String),
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let message = status.message().to_owned();
        // A broken connection arrives as "unknown", with the transport error as its source.
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
