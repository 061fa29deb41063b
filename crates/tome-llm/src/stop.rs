//! Cancellation of blocking calls.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A cancellation token. Clones share their state; once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The time elapsed.
    Through,
    /// The token was cancelled.
    Stopped,
}

impl Stop {
    /// Cancels current and future waits and calls.
    pub fn stop(&self) {
        let (thrown, changed) = &*self.0;
        *thrown.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether the token is cancelled.
    pub fn is_stopped(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `time`, or until the token is cancelled.
    pub fn wait(&self, time: Duration) -> Waited {
        let (thrown, changed) = &*self.0;
        let held = thrown.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, _) = changed
            .wait_timeout_while(held, time, |thrown| !*thrown)
            .unwrap_or_else(PoisonError::into_inner);
        if *held { Waited::Stopped } else { Waited::Through }
    }
}
