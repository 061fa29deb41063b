//! Vectors from a remote endpoint, if one is configured: a thread sends it new texts in the
//! background, a few at a time.
//!
//! Nothing waits for it: the scheduler updates the BM25 indexes meanwhile, and queries use those. A
//! failing endpoint is retried with backoff. No request is sent if nothing changed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tome_home::Store;
use tome_llm::{CancelToken, WaitOutcome};
use tome_recall::RecallError;
use tome_recall::{EndpointEmbedder, IndexUpdate};

use super::state::Daemon;

/// Interval of the check for new texts, which reads only the cursors of a store.
const REMOTE_VECTORS_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after an index could not be written.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Stores to check after the start even if they are not open, the most recently written first.
const STORES_AT_START_MAX: usize = 64;

/// Sends new texts until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    let Some(embedder) = daemon.models.remote.clone() else { return };
    let stop = CancelToken::default();
    let thread = RemoteVectorThread { daemon: Arc::clone(&daemon), embedder, stop: stop.clone() };
    // Not a thread of the runtime: a stopping daemon does not wait for the endpoint. Texts whose
    // request is cut off are not in the index, and are sent again.
    let begun = std::thread::Builder::new().name("tome-vectors".to_owned()).spawn(|| thread.run());
    if let Err(error) = begun {
        daemon.log.write(&format!("cannot start the thread for remote vectors: {error}"));
    }
    daemon.stop_requested().await;
    stop.cancel();
}

struct RemoteVectorThread {
    daemon: Arc<Daemon>,
    embedder: Arc<EndpointEmbedder>,
    stop: CancelToken,
}

impl RemoteVectorThread {
    fn run(self) {
        // A killed daemon, or a change of embedder, may have left stores behind.
        let mut unvisited = self.daemon.engine.stores().list_paths();
        unvisited.truncate(STORES_AT_START_MAX);
        let mut logged = None;
        while self.stop.wait(REMOTE_VECTORS_INTERVAL) == WaitOutcome::Elapsed {
            let is_ok = self.embedder.is_backing_off() || self.update_all(&mut unvisited);
            self.log_status_change(&mut logged);
            // The endpoint has its own backoff.
            if !is_ok && !self.embedder.is_backing_off() {
                self.stop.wait(RETRY_AFTER);
            }
        }
    }

    /// Updates all vectors. Returns whether that succeeded.
    fn update_all(&self, unvisited: &mut Vec<PathBuf>) -> bool {
        let stop = || self.stop.is_cancelled();
        for store in self.daemon.engine.stores().open_stores() {
            if !self.update_store(&store) {
                return false;
            }
        }
        while let Some(path) = unvisited.last().filter(|_| !stop()) {
            let was_open = self.daemon.engine.stores().is_open(path);
            // Errors of a store are reported to those who read it.
            let opened = self.daemon.engine.stores().open(path).ok();
            let is_ok = opened.as_ref().is_none_or(|store| self.update_store(store));
            // Otherwise it stays open for the next visit, which may have been skipped meanwhile.
            let is_behind = |store| self.daemon.engine.is_behind(store).unwrap_or(true);
            let is_complete = !opened.as_ref().is_some_and(is_behind);
            drop(opened);
            if !was_open && is_complete {
                self.daemon.engine.stores().close(path);
                self.daemon.engine.recall().close_indexes(path);
            }
            if !is_ok {
                return false;
            }
            unvisited.pop();
        }
        self.log_outcome("notes", &self.daemon.engine.recall().catch_up_note_vectors(&stop))
    }

    fn update_store(&self, store: &Store) -> bool {
        let outcome =
            self.daemon.engine.recall().catch_up_vectors(store, &|| self.stop.is_cancelled());
        self.log_outcome(&store.path().display().to_string(), &outcome)
    }

    /// Logs an error, unless it is the endpoint's, which `log_status_change` logs once. Returns
    /// whether the update succeeded.
    fn log_outcome(&self, name: &str, outcome: &Result<IndexUpdate, RecallError>) -> bool {
        if let Err(error) = outcome
            && self.embedder.status().problem.is_none()
        {
            self.daemon
                .log
                .write(&format!("cannot update the vectors of {name}: {}", error.explained()));
        }
        outcome.is_ok()
    }

    /// Logs when the endpoint starts to fail, fails in another way, or recovers.
    fn log_status_change(&self, logged: &mut Option<String>) {
        let problem = self.embedder.status().problem;
        if *logged == problem {
            return;
        }
        self.daemon.log.write(&match &problem {
            Some(problem) => format!("no vectors for now: {problem}; retrying later"),
            None => "the embedding endpoint works again".to_owned(),
        });
        *logged = problem;
    }
}
