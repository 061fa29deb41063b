//! One switch that ends all waiting.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Thrown once, by whoever is on their way out; clones are the same switch.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The time is over.
    Through,
    /// The switch was thrown.
    Stopped,
}

impl Stop {
    /// Ends all waiting, now and later.
    pub fn stop(&self) {
        let (thrown, changed) = &*self.0;
        *thrown.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether it was thrown.
    pub fn is_stopped(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, unless and until it is thrown.
    pub fn wait(&self, time: Duration) -> Waited {
        let (thrown, changed) = &*self.0;
        let held = thrown.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, _) = changed
            .wait_timeout_while(held, time, |thrown| !*thrown)
            .unwrap_or_else(PoisonError::into_inner);
        if *held { Waited::Stopped } else { Waited::Through }
    }
}
