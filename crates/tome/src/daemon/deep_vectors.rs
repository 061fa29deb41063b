//! Deep vectors, unless a remote endpoint computes vectors: a thread of low priority computes them in
//! the background, the newest first, and gives way to queries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_llm::{CancelToken, WaitOutcome};
use tome_recall::{IndexUpdate, RecallError};

use super::state::Daemon;
use crate::platform;

/// Interval of the check for new texts, which reads only the cursors of open stores.
const DEEP_VECTORS_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after an index could not be written.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Computes deep vectors until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    if !daemon.engine.recall().has_deep_vectors() {
        return;
    }
    let stop = CancelToken::default();
    let thread = DeepVectorThread {
        daemon: Arc::clone(&daemon),
        stop: stop.clone(),
        unvisited: BTreeSet::new(),
    };
    // Not a thread of the runtime: a stopping daemon does not wait for it. A batch that is cut off is
    // not in the index, and is computed again.
    let begun = std::thread::Builder::new().name("tome-deep".to_owned()).spawn(|| thread.run());
    if let Err(error) = begun {
        daemon.log.write(&format!("cannot start the thread for deep vectors: {error}"));
    }
    daemon.stop_requested().await;
    stop.cancel();
}

struct DeepVectorThread {
    daemon: Arc<Daemon>,
    stop: CancelToken,
    /// Stores that may lack deep vectors, besides those that are open.
    unvisited: BTreeSet<PathBuf>,
}

impl DeepVectorThread {
    fn run(mut self) {
        platform::lower_priority();
        let mut last_arrived = None;
        while self.stop.wait(DEEP_VECTORS_INTERVAL) == WaitOutcome::Elapsed {
            // A store may be written and closed again between two checks.
            let arrived = self.daemon.counters.last_arrived_ms.load(Ordering::Relaxed);
            if last_arrived.replace(arrived) != Some(arrived) {
                self.unvisited.extend(self.daemon.engine.stores().list_paths());
            }
            if !self.update_all() {
                self.stop.wait(RETRY_AFTER);
            }
        }
    }

    /// Computes everything that is missing. Returns whether that succeeded.
    fn update_all(&mut self) -> bool {
        let open: Vec<PathBuf> = self
            .daemon
            .engine
            .stores()
            .open_stores()
            .iter()
            .map(|store| store.path().to_owned())
            .collect();
        let mut is_ok = open.iter().all(|path| self.update_store(path));
        while is_ok && !self.stop.is_cancelled() {
            let Some(path) = self.unvisited.pop_last() else { break };
            is_ok = self.update_store(&path);
            if !is_ok {
                self.unvisited.insert(path);
            }
        }
        let stop = || self.stop.is_cancelled();
        is_ok && self.log_outcome("notes", &self.daemon.engine.recall().catch_up_note_deep(&stop))
    }

    fn update_store(&self, path: &Path) -> bool {
        let stores = self.daemon.engine.stores();
        let was_open = stores.is_open(path);
        // Errors of a store are reported to those who read it.
        if stores.open_for_upkeep(path).is_err() {
            return true;
        }
        let stop = || self.stop.is_cancelled();
        let outcome = self.daemon.engine.recall().catch_up_deep(path, &stop);
        let Ok(store) = stores.open_for_upkeep(path) else { return true };
        // Otherwise it stays open for the next visit, which may have been skipped meanwhile.
        let is_complete = self.daemon.engine.is_behind(&store).is_ok_and(|is_behind| !is_behind);
        drop(store);
        if !was_open && is_complete {
            stores.close(path);
            self.daemon.engine.recall().close_indexes(path);
        }
        self.log_outcome(&path.display().to_string(), &outcome)
    }

    /// Logs an error. Returns whether the update succeeded.
    fn log_outcome(&self, name: &str, outcome: &Result<IndexUpdate, RecallError>) -> bool {
        if let Err(error) = outcome {
            let problem = error.explained();
            self.daemon.log.write(&format!("cannot update the deep vectors of {name}: {problem}"));
        }
        outcome.is_ok()
    }
}
