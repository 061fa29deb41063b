//! The daemon reads what it stores: contents are made soon after events came, store by store, each
//! on a thread of its own, so that a bulk for one project keeps nobody else's events waiting.
//!
//! Nothing is remembered here. A store that is behind its own cursor has something to read, whether
//! it came just now, was left by a daemon that was killed, or could not be read the last time.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tome_engine::{EngineError, Store};

use super::shared::Shared;

/// What comes together is read together: the shortest time between two looks.
const BREATH: Duration = Duration::from_millis(100);
/// How often open stores are looked at though nobody stored anything: one that was opened to be asked
/// something may be behind.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A store that cannot be read is tried again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// How long a daemon that has just started waits before it looks at stores that nobody has opened:
/// whoever started it comes first.
const START_AFTER: Duration = Duration::from_secs(1);
/// Stores that are looked at after the start, those written to last first. The others are read when
/// they are opened.
const STORES_AT_START_MAX: usize = 64;

/// Reads until the daemon leaves.
pub async fn run(shared: Arc<Shared>) {
    let busy: Arc<Mutex<HashSet<PathBuf>>> = Arc::default();
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut left_behind = std::pin::pin!(read_what_was_left(Arc::clone(&shared)));
    let mut is_looked_through = false;
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            () = &mut left_behind, if !is_looked_through => is_looked_through = true,
            () = shared.to_read.notified() => {
                read_open(&shared, &busy);
                tokio::time::sleep(BREATH).await;
            }
            _ = look.tick() => read_open(&shared, &busy),
        }
    }
}

/// Has every open store read that is not being read. One that cannot be is left alone for a while.
fn read_open(shared: &Arc<Shared>, busy: &Arc<Mutex<HashSet<PathBuf>>>) {
    for store in shared.stores.open_now() {
        let path = store.path().to_path_buf();
        let is_new = busy.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        if !is_new {
            continue;
        }
        let turn = Turn { busy: Arc::clone(busy), path };
        tokio::spawn(read_in_turn(Arc::clone(shared), store, turn));
    }
}

async fn read_in_turn(shared: Arc<Shared>, store: Store, turn: Turn) {
    let (theirs, path) = (Arc::clone(&shared), turn.path.clone());
    let work = tokio::task::spawn_blocking(move || {
        let before = store.last_seq();
        let read = read(&theirs, &store);
        let is_well = read.is_ok();
        complain(&theirs, &path, read);
        // What came while this one ended may have been told to nobody.
        is_well.then(|| store.last_seq() > before)
    });
    // One that panics is logged by its thread.
    match work.await.ok().flatten() {
        Some(has_more) => {
            drop(turn);
            if has_more {
                shared.to_read.notify_one();
            }
        }
        None => tokio::time::sleep(RETRY_AFTER).await,
    }
}

/// A store that is being read, until this is dropped.
struct Turn {
    busy: Arc<Mutex<HashSet<PathBuf>>>,
    path: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// Reads a store until it is up to date.
fn read(shared: &Shared, store: &Store) -> Result<(), EngineError> {
    if !shared.calendar.is_behind(store)? {
        return Ok(());
    }
    shared.calendar.catch_up(store)
}

/// Goes through stores that nobody has opened: a daemon that was killed may have left some behind.
async fn read_what_was_left(shared: Arc<Shared>) {
    tokio::time::sleep(START_AFTER).await;
    let work = tokio::task::spawn_blocking(move || {
        for path in shared.stores.paths().iter().take(STORES_AT_START_MAX) {
            if shared.is_leaving() {
                return;
            }
            if shared.stores.is_open(path) {
                continue;
            }
            let read = shared.stores.open(path).and_then(|store| read(&shared, &store));
            complain(&shared, path, read);
            shared.stores.close(path);
        }
    });
    // One that panics is logged by its thread; what it left is read when it is asked for.
    let _ = work.await;
}

fn complain(shared: &Shared, path: &Path, read: Result<(), EngineError>) {
    if let Err(error) = read {
        shared.log.say(&format!("cannot read {}: {}", path.display(), error.explained()));
    }
}
