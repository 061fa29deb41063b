//! Decides which thread settles a delivery: the worker, or the main thread that waits for it.
//!
//! The worker may be blocked by the daemon, a lock or a disk. Then the main thread claims the delivery and
//! hands it to another process, and the worker writes nothing if it wakes up later. Once the worker has
//! begun to write, the delivery can no longer be claimed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveryOwner {
    /// The worker, before it writes.
    Worker,
    /// The worker, while it writes to the spool or records a loss.
    Writing,
    /// The main thread, while it hands the delivery to another process.
    Claimed,
    /// Another process.
    HandedOn,
}

#[derive(Debug)]
pub struct DeliveryOwnership {
    owner: Mutex<DeliveryOwner>,
    changed: Condvar,
}

impl DeliveryOwnership {
    /// Starts with the worker as owner.
    pub fn new() -> Self {
        Self { owner: Mutex::new(DeliveryOwner::Worker), changed: Condvar::new() }
    }

    /// Called by the worker before it writes; returns whether it may. Blocks while the main thread is
    /// handing the delivery on.
    pub fn begin_writing(&self) -> bool {
        let mut owner = self.lock();
        while *owner == DeliveryOwner::Claimed {
            owner = self.changed.wait(owner).unwrap_or_else(PoisonError::into_inner);
        }
        if *owner == DeliveryOwner::Worker {
            *owner = DeliveryOwner::Writing;
        }
        *owner == DeliveryOwner::Writing
    }

    /// Called by the main thread: takes the delivery from the worker, unless that has begun to write.
    pub fn try_claim(&self) -> bool {
        let mut owner = self.lock();
        if *owner == DeliveryOwner::Worker {
            *owner = DeliveryOwner::Claimed;
        }
        *owner == DeliveryOwner::Claimed
    }

    /// Called by the main thread: another process has taken over.
    pub fn mark_handed_on(&self) {
        self.resolve_claim(DeliveryOwner::HandedOn);
    }

    /// Called by the main thread: handing on failed, so the worker continues.
    pub fn give_back(&self) {
        self.resolve_claim(DeliveryOwner::Worker);
    }

    fn resolve_claim(&self, to: DeliveryOwner) {
        let mut owner = self.lock();
        if *owner == DeliveryOwner::Claimed {
            *owner = to;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, DeliveryOwner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relieved_worker_writes_nothing() {
        let ownership = DeliveryOwnership::new();
        assert!(ownership.try_claim());
        ownership.mark_handed_on();
        assert!(!ownership.begin_writing());
    }

    #[test]
    fn a_writing_worker_is_not_relieved() {
        let ownership = DeliveryOwnership::new();
        assert!(ownership.begin_writing());
        assert!(!ownership.try_claim());
        ownership.mark_handed_on();
        assert!(ownership.begin_writing(), "it goes on");
    }

    #[test]
    fn a_worker_waits_until_ownership_is_decided() {
        let ownership = DeliveryOwnership::new();
        assert!(ownership.try_claim());
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| ownership.begin_writing());
            ownership.give_back();
            assert!(worker.join().unwrap(), "nobody else took it");
        });
        assert!(!ownership.try_claim());
    }
}
