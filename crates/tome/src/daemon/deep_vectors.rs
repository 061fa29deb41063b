//! Deep vectors, unless a remote endpoint computes vectors: a thread of low priority computes them in
//! the background, the newest of all projects first, and gives way to queries.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tome_llm::{CancelToken, WaitOutcome};
use tome_model::Millis;
use tome_recall::{DeepQueue, IndexUpdate, RecallError};

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
        queue: DeepQueue::default(),
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
    /// Stores that lack deep vectors.
    queue: DeepQueue,
}

impl DeepVectorThread {
    fn run(mut self) {
        platform::lower_priority();
        let mut last_arrived = None;
        while self.stop.wait(DEEP_VECTORS_INTERVAL) == WaitOutcome::Elapsed {
            // A store may be written and closed again between two checks.
            let arrived = self.last_arrived();
            if last_arrived.replace(arrived) != Some(arrived) {
                self.queue_stores(&self.daemon.engine.stores().list_paths());
            }
            if !self.update_all() {
                self.stop.wait(RETRY_AFTER);
            }
        }
    }

    fn last_arrived(&self) -> u64 {
        self.daemon.counters.last_arrived_ms.load(Ordering::Relaxed)
    }

    /// Queues the stores at these paths that lack deep vectors.
    fn queue_stores(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if self.stop.is_cancelled() {
                return;
            }
            self.visit_store(path, || {});
        }
    }

    /// Computes everything that is missing, the newest of all stores first. Returns whether that
    /// succeeded.
    fn update_all(&mut self) -> bool {
        let stop = self.stop.clone();
        let mut seen = None;
        while !stop.is_cancelled() {
            let arrived = self.last_arrived();
            if seen.replace(arrived) != Some(arrived) {
                let open = self.daemon.engine.stores().open_stores();
                let open: Vec<PathBuf> = open.iter().map(|store| store.path().to_owned()).collect();
                self.queue_stores(&open);
            }
            let Some((path, since)) = self.queue.next() else { break };
            let Some(update) = self.update_store(&path, since) else { return false };
            if update == IndexUpdate::default() && self.last_arrived() == arrived {
                // Nothing can be done now; the next round tries again.
                self.queue.set(&path, None);
            }
        }
        let outcome = self.daemon.engine.recall().catch_up_note_deep(&|| stop.is_cancelled());
        stop.is_cancelled() || self.log_outcome("notes", outcome).is_some()
    }

    /// Computes what a store lacks, back to `since`, or for a moment if something new arrives in any store.
    /// `None` if that failed.
    fn update_store(&mut self, path: &Path, since: Millis) -> Option<IndexUpdate> {
        let (daemon, cancelled, arrived) =
            (Arc::clone(&self.daemon), self.stop.clone(), self.last_arrived());
        let last_arrived = || daemon.counters.last_arrived_ms.load(Ordering::Relaxed);
        let mut outcome = Ok(IndexUpdate::default());
        self.visit_store(path, || {
            let begun = Instant::now();
            let stop = || {
                let is_over = begun.elapsed() >= DEEP_VECTORS_INTERVAL;
                cancelled.is_cancelled() || is_over && last_arrived() != arrived
            };
            outcome = daemon.engine.recall().catch_up_deep(path, since, &stop);
        });
        self.log_outcome(&path.display().to_string(), outcome)
    }

    /// Works on a store, and then queues it by what it lacks. Closes it if it was not open before. Errors
    /// of a store are reported to those who read it.
    fn visit_store(&mut self, path: &Path, work: impl FnOnce()) {
        let engine = &self.daemon.engine;
        let was_open = engine.stores().is_open(path);
        if engine.stores().open_for_upkeep(path).is_err() {
            return self.queue.set(path, None);
        }
        work();
        let Ok(store) = engine.stores().open_for_upkeep(path) else {
            return self.queue.set(path, None);
        };
        self.queue.set(path, engine.recall().newest_without_deep(&store).unwrap_or_default());
        // Otherwise it stays open for the next visit, which may have been skipped meanwhile.
        let is_complete = engine.is_behind(&store).is_ok_and(|is_behind| !is_behind);
        drop(store);
        if !was_open && is_complete {
            engine.stores().close(path);
            engine.recall().close_indexes(path);
        }
    }

    /// Logs an error.
    fn log_outcome(
        &self,
        name: &str,
        outcome: Result<IndexUpdate, RecallError>,
    ) -> Option<IndexUpdate> {
        let log = |error: RecallError| {
            let problem = error.explained();
            self.daemon.log.write(&format!("cannot update the deep vectors of {name}: {problem}"));
        };
        outcome.map_err(log).ok()
    }
}
