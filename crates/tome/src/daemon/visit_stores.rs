//! Visits stores: brings their projections up to date soon after events arrive, a few stores at a time, so
//! that a bulk import of one project delays no other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;
use tome_home::HomeError;

use super::state::Daemon;
use crate::platform;

/// Interval at which open stores are visited without new events: one that was opened for a query may
/// be behind.
const VISIT_INTERVAL: Duration = Duration::from_secs(2);
/// Delay after a store could not be caught up with.
const RETRY_DELAY: Duration = Duration::from_secs(30);
/// Delay if only an index failed: it may have been deleted at that moment.
const INDEX_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Delay before a new daemon visits stores that are not open: the client that started it comes
/// first.
const STARTUP_DELAY: Duration = Duration::from_secs(1);
/// Stores visited after the start, the most recently written first. The others are caught up with when
/// they are opened.
const STORES_AT_START_MAX: usize = 64;
/// After this many new bytes the memory tables of the stores are flushed at the next visit.
const FLUSH_BYTES: u64 = 4 * 1024 * 1024;

/// Visits stores until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    let mut tick = tokio::time::interval(VISIT_INTERVAL);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let at_start = tokio::spawn(visit_at_start(Arc::clone(&daemon)));
    // Kept across ticks: a new future would have missed the notification.
    let mut debounce = std::pin::pin!(daemon.scheduler.debounce());
    loop {
        tokio::select! {
            () = daemon.stop_requested() => break,
            () = &mut debounce => {
                for root in daemon.scheduler.take_pending() {
                    let path = daemon.engine.stores().find_store_path(&root);
                    path.into_iter().for_each(|path| schedule_visit(&daemon, path));
                }
                debounce.set(daemon.scheduler.debounce());
            }
            _ = tick.tick() => visit_open_stores(&daemon),
            () = daemon.scheduler.lagging.notified() => visit_open_stores(&daemon),
        }
    }
    at_start.abort();
}

fn visit_open_stores(daemon: &Arc<Daemon>) {
    for store in daemon.engine.stores().open_stores() {
        schedule_visit(daemon, store.path().to_path_buf());
    }
    index_notes(daemon);
}

/// Schedules a visit to a store, unless there is one already.
fn schedule_visit(daemon: &Arc<Daemon>, path: PathBuf) {
    if daemon.scheduler.busy().insert(path.clone()) {
        let visit = Visit { daemon: Arc::clone(daemon), path };
        tokio::spawn(run_visit(visit));
    }
}

/// A scheduled visit; dropping it allows the next one.
struct Visit {
    daemon: Arc<Daemon>,
    path: PathBuf,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.daemon.scheduler.busy().remove(&self.path);
    }
}

/// Runs a visit, and then pauses if it failed.
async fn run_visit(visit: Visit) {
    let daemon = Arc::clone(&visit.daemon);
    let Ok(permit) = daemon.scheduler.visits.acquire().await else { return };
    let (in_thread, path) = (Arc::clone(&daemon), visit.path.clone());
    let work = run_in_background(move || {
        let caught_up = catch_up(&in_thread, &path);
        let pause = match &caught_up {
            Ok(()) => None,
            Err(HomeError::Index(_)) => Some(INDEX_RETRY_DELAY),
            Err(_) => Some(RETRY_DELAY),
        };
        log_problem(&in_thread, &path, caught_up);
        pause
    });
    let pause = work.await.unwrap_or(Some(RETRY_DELAY));
    drop(permit);
    if let Some(pause) = pause {
        sleep(pause).await;
    }
}

/// Brings all projections of a store up to date.
fn catch_up(daemon: &Daemon, path: &Path) -> Result<(), HomeError> {
    if daemon.is_stopping() {
        return Ok(());
    }
    let store = daemon.engine.stores().open_for_upkeep(path)?;
    let caught_up = daemon.engine.catch_up(&store, &|| daemon.is_stopping());
    daemon.engine.recall().release_writers(&store);
    // After a failure, or with events that arrived during the visit, the store stays open for the next.
    if daemon.engine.is_behind(&store).unwrap_or(true) {
        daemon.engine.stores().open(path)?;
    }
    drop(store);
    // Indexes of closed stores hold file descriptors.
    daemon.engine.recall().close_indexes(path);
    flush_after_bulk(daemon);
    caught_up
}

/// Flushes the memory tables of the stores after a bulk import, to release their memory.
fn flush_after_bulk(daemon: &Daemon) {
    let unflushed = &daemon.counters.unflushed;
    let limit = |bytes: u64| (bytes >= FLUSH_BYTES).then_some(0);
    if unflushed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, limit).is_err() {
        return;
    }
    for store in daemon.engine.stores().open_stores() {
        if let Err(error) = store.flush() {
            daemon.log.write(&format!("cannot flush {}: {error}", store.path().display()));
        }
    }
}

/// Runs work on a low-priority thread, whose priority its child threads inherit: calls that a
/// client waits for come first. `None` if the work panicked, which the thread logs.
async fn run_in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    // When the daemon stops, the runtime waits for the blocking task, and the task for the thread.
    let task = tokio::task::spawn_blocking(move || {
        let background = || {
            platform::lower_priority();
            work()
        };
        std::thread::scope(|scope| scope.spawn(background).join().ok())
    });
    task.await.ok().flatten()
}

/// Indexes the notes of projects without a store, if a query has found them out of date.
fn index_notes(daemon: &Arc<Daemon>) {
    let daemon = Arc::clone(daemon);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = daemon.engine.recall().catch_up_note_indexes(&|| daemon.is_stopping()) {
            daemon.log.write(&format!("cannot index notes: {}", error.explained()));
        }
    });
}

/// Visits stores that are not open: a killed daemon may have left some behind.
async fn visit_at_start(daemon: Arc<Daemon>) {
    sleep(STARTUP_DELAY).await;
    let work = run_in_background(move || {
        for path in daemon.engine.stores().list_paths().iter().take(STORES_AT_START_MAX) {
            if daemon.is_stopping() {
                return;
            }
            if !daemon.engine.stores().is_open(path) {
                log_problem(&daemon, path, catch_up(&daemon, path));
                daemon.engine.close(path);
            }
        }
    });
    let _ = work.await;
}

fn log_problem(daemon: &Daemon, path: &Path, caught_up: Result<(), HomeError>) {
    let problem = caught_up.err().map(|error| error.explained());
    if daemon.scheduler.is_new_problem(path, problem.as_deref())
        && let Some(problem) = problem
    {
        daemon.log.write(&format!("cannot catch up with {}: {problem}", path.display()));
    }
}
