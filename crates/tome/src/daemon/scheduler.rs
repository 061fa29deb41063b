//! The scheduler: decides which stores to visit first, soon after events arrive. The cursors of the
//! projections show whether a store is behind, so that stores left behind by a killed daemon are
//! caught up with too.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

/// A store is visited once no event has arrived for this long. It also keeps the first visit
/// to a new store, which creates tables, out of the way of the next hook.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// The longest debounce, so that events are in the contents within a second.
const DEBOUNCE_MAX: Duration = Duration::from_millis(600);
/// Stores visited at the same time; each is open during its visit.
const VISITS_MAX: usize = 3;

/// Stores to visit, and visits under way.
pub struct Scheduler {
    /// Projects with new events.
    pending: Mutex<BTreeSet<String>>,
    arrived: Notify,
    /// A query met an index that is behind or missing.
    pub lagging: Notify,
    /// Stores that are being visited, or are queued for it.
    busy: Mutex<HashSet<PathBuf>>,
    pub visits: Semaphore,
    /// The last problem of each store, so that it is logged once.
    problems: Mutex<HashMap<PathBuf, String>>,
}

impl Scheduler {
    pub fn new() -> Self {
        Self {
            pending: Mutex::default(),
            arrived: Notify::new(),
            lagging: Notify::new(),
            busy: Mutex::default(),
            visits: Semaphore::new(VISITS_MAX),
            problems: Mutex::default(),
        }
    }

    /// Schedules visits to the stores of these projects.
    pub fn schedule_projects(&self, roots: BTreeSet<String>) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).extend(roots);
        self.arrived.notify_one();
    }

    /// Schedules visits to the open stores: a query has met an index that is behind or missing, and
    /// the next one should not wait for the interval.
    pub fn schedule_open_stores(&self) {
        self.lagging.notify_one();
    }

    pub fn take_pending(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn busy(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for events, and then until no more arrive.
    pub async fn debounce(&self) {
        self.arrived.notified().await;
        let latest = Instant::now() + DEBOUNCE_MAX;
        let deadline = |now: Instant| latest.min(now + DEBOUNCE);
        while timeout_at(deadline(Instant::now()), self.arrived.notified()).await.is_ok()
            && Instant::now() < latest
        {}
    }

    /// Remembers the problem of a store. Returns whether it is new.
    pub fn is_new_problem(&self, path: &Path, problem: Option<&str>) -> bool {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match problem {
            Some(problem) => problems.insert(path.to_owned(), problem.to_owned()),
            None => problems.remove(path),
        };
        problem.is_some() && before.as_deref() != problem
    }
}
