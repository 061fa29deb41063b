//! Limits the memory of requests in flight.
//!
//! Responses are produced as fast as requests arrive, whether or not the client reads them. Each
//! request reserves a share of a fixed budget when it is read and releases it when its response is
//! written, so that a client that only writes is blocked by its own pipe.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{IN_FLIGHT_KIB_MAX, RESPONSE_KIB};

pub type BudgetPermit = OwnedSemaphorePermit;

#[derive(Debug, Clone)]
pub struct InFlight {
    budget: Arc<Semaphore>,
    /// By request id, as JSON.
    shares: Arc<Mutex<HashMap<String, BudgetPermit>>>,
}

impl InFlight {
    pub fn new() -> Self {
        Self {
            budget: Arc::new(Semaphore::new(IN_FLIGHT_KIB_MAX as usize)),
            shares: Arc::default(),
        }
    }

    /// Waits for enough budget for a request of this size and its response. Cancel-safe.
    pub async fn reserve(&self, bytes: usize) -> Option<BudgetPermit> {
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).saturating_add(RESPONSE_KIB);
        // The semaphore is never closed.
        Arc::clone(&self.budget).acquire_many_owned(kib.min(IN_FLIGHT_KIB_MAX)).await.ok()
    }

    pub fn contains(&self, id: &Value) -> bool {
        self.lock_shares().contains_key(&id.to_string())
    }

    pub fn insert(&self, id: &Value, share: BudgetPermit) {
        self.lock_shares().insert(id.to_string(), share);
    }

    /// Returns the permit of a request that was answered or cancelled.
    pub fn remove(&self, id: &Value) -> Option<BudgetPermit> {
        self.lock_shares().remove(&id.to_string())
    }

    fn lock_shares(&self) -> MutexGuard<'_, HashMap<String, BudgetPermit>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
