//! Who is responsible for a delivery: the thread that does the work, or the one that waits for it.
//!
//! The worker may be held up by a daemon, a lock or a disk. Then the waiting thread claims the delivery
//! and hands it to another process; a worker that comes round afterwards writes nothing. Once the worker
//! has begun to write it can no longer be relieved. So a delivery is settled by one of them, and the
//! other one knows.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The worker, which has written nothing yet.
    Worker,
    /// The worker, which is writing the spool or the record of losses.
    Writing,
    /// The waiting thread, which tries to hand the delivery on.
    Claimed,
    /// Another process.
    HandedOn,
}

/// Who is responsible for a delivery.
#[derive(Debug)]
pub struct Ownership {
    owner: Mutex<Owner>,
    changed: Condvar,
}

impl Ownership {
    /// The worker is responsible at first.
    pub fn new() -> Self {
        Self { owner: Mutex::new(Owner::Worker), changed: Condvar::new() }
    }

    /// In the worker, before it writes: whether it may. Waits while the other thread is trying to hand
    /// the delivery on.
    pub fn begin_writing(&self) -> bool {
        let mut owner = self.lock();
        while *owner == Owner::Claimed {
            owner = self.changed.wait(owner).unwrap_or_else(PoisonError::into_inner);
        }
        if *owner == Owner::Worker {
            *owner = Owner::Writing;
        }
        *owner == Owner::Writing
    }

    /// In the waiting thread: relieves the worker, unless that has begun to write.
    pub fn claim(&self) -> bool {
        let mut owner = self.lock();
        if *owner == Owner::Worker {
            *owner = Owner::Claimed;
        }
        *owner == Owner::Claimed
    }

    /// In the waiting thread: another process has the delivery.
    pub fn handed_on(&self) {
        self.settle(Owner::HandedOn);
    }

    /// In the waiting thread: nobody took the delivery, so the worker has to go on with it.
    pub fn give_back(&self) {
        self.settle(Owner::Worker);
    }

    fn settle(&self, to: Owner) {
        let mut owner = self.lock();
        if *owner == Owner::Claimed {
            *owner = to;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_was_relieved_writes_nothing() {
        let ownership = Ownership::new();
        assert!(ownership.claim());
        ownership.handed_on();
        assert!(!ownership.begin_writing());
    }

    #[test]
    fn a_worker_that_writes_is_not_relieved() {
        let ownership = Ownership::new();
        assert!(ownership.begin_writing());
        assert!(!ownership.claim());
        ownership.handed_on();
        assert!(ownership.begin_writing(), "it goes on");
    }

    #[test]
    fn a_worker_waits_until_it_knows() {
        let ownership = Ownership::new();
        assert!(ownership.claim());
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| ownership.begin_writing());
            ownership.give_back();
            assert!(worker.join().unwrap(), "nobody else took it");
        });
        assert!(!ownership.claim());
    }
}
