//! Cancellation of blocking calls.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A cancellation token. Clones share their state; once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<(Mutex<bool>, Condvar)>);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The time elapsed.
    Elapsed,
    /// The token was cancelled.
    Cancelled,
}

impl CancelToken {
    /// Cancels current and future waits and calls.
    pub fn cancel(&self) {
        let (thrown, changed) = &*self.0;
        *thrown.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `time`, or until the token is cancelled.
    pub fn wait(&self, time: Duration) -> WaitOutcome {
        let (thrown, changed) = &*self.0;
        let guard = thrown.lock().unwrap_or_else(PoisonError::into_inner);
        let (guard, _) = changed
            .wait_timeout_while(guard, time, |thrown| !*thrown)
            .unwrap_or_else(PoisonError::into_inner);
        if *guard { WaitOutcome::Cancelled } else { WaitOutcome::Elapsed }
    }
}
