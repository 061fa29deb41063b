//! Requests in flight, and how much memory they may take together.
//!
//! Answers are made as fast as requests come, whether or not the client reads them. Each request
//! takes a share of a fixed budget when it is read and gives it back when its answer is written, so
//! that a client which only writes is stopped by its own pipe and not by the machine's memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{ANSWER_KIB, IN_FLIGHT_KIB_MAX};

/// A share of the budget.
pub type Share = OwnedSemaphorePermit;

/// The requests in flight.
#[derive(Debug, Clone)]
pub struct InFlight {
    budget: Arc<Semaphore>,
    /// By the id of the request, as JSON.
    shares: Arc<Mutex<HashMap<String, Share>>>,
}

impl InFlight {
    pub fn new() -> Self {
        Self {
            budget: Arc::new(Semaphore::new(IN_FLIGHT_KIB_MAX as usize)),
            shares: Arc::default(),
        }
    }

    /// Waits for room for a request that came in so many bytes, and for its answer. Nothing is lost
    /// when this is given up while it waits.
    pub async fn reserve(&self, bytes: usize) -> Option<Share> {
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).saturating_add(ANSWER_KIB);
        // Nobody closes it.
        Arc::clone(&self.budget).acquire_many_owned(kib.min(IN_FLIGHT_KIB_MAX)).await.ok()
    }

    /// Whether a request of this id is in flight.
    pub fn has(&self, id: &Value) -> bool {
        self.shares().contains_key(&id.to_string())
    }

    /// Notes that a request is in flight.
    pub fn begin(&self, id: &Value, share: Share) {
        self.shares().insert(id.to_string(), share);
    }

    /// The share of a request that is answered, or taken back.
    pub fn end(&self, id: &Value) -> Option<Share> {
        self.shares().remove(&id.to_string())
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<String, Share>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
