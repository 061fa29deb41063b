//! Whether anybody needs the daemon: calls in flight, and how long ago the last one ended.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts calls. Measured on the monotonic clock: a wall clock that jumps must not end the daemon.
#[derive(Debug)]
pub struct Activity {
    in_flight: AtomicUsize,
    last: Mutex<Instant>,
}

impl Activity {
    /// Nobody has called yet.
    pub fn new() -> Self {
        Self { in_flight: AtomicUsize::new(0), last: Mutex::new(Instant::now()) }
    }

    /// A call begins; it ends when the answer is dropped.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        Busy(Arc::clone(self))
    }

    /// How long nobody has needed the daemon.
    pub fn idle_for(&self) -> Duration {
        if self.in_flight.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// A call in flight.
#[derive(Debug)]
pub struct Busy(Arc<Activity>);

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}
