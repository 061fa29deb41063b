//! The daemon reads what it stores: contents are made soon after events came, store by store, a few
//! at a time, so that a bulk for one project keeps nobody else's events waiting.
//!
//! What is remembered here only says where to look first. A store that is behind its own cursor has
//! something to read, whether it came just now, was left by a daemon that was killed, or could not
//! be read the last time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};
use tome_recall::RecallError;

use super::shared::Shared;
use super::{reflect, transcripts};
use crate::platform;

/// What comes together is read together: reading waits until nothing has come for so long. It also
/// keeps the first reading of a new store, which makes tables, out of the way of the next hook.
const QUIET: Duration = Duration::from_millis(300);
/// And no longer than this, so that what happens is in the contents within a second.
const PATIENCE: Duration = Duration::from_millis(600);
/// How often open stores are looked at though nobody stored anything: one that was opened to be
/// asked something may be behind.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A store that cannot be read is tried again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// And one whose indexes could not be kept: somebody may have deleted them at that moment.
const INDEX_RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long a daemon that has just started waits before it looks at stores that nobody has opened:
/// whoever started it comes first.
const START_AFTER: Duration = Duration::from_secs(1);
/// Stores that are looked at after the start, those written to last first. The others are read when
/// they are asked.
const STORES_AT_START_MAX: usize = 64;
/// Stores that are read at a time. Each is held open meanwhile.
const READ_AT_ONCE_MAX: usize = 3;

/// What there is to read.
pub struct Reading {
    /// Projects that something was stored of.
    unread: Mutex<BTreeSet<String>>,
    told: Notify,
    /// Stores that are being read, or wait for it.
    busy: Mutex<HashSet<PathBuf>>,
    turns: Semaphore,
    /// What was last said of stores that could not be read: it is said once.
    complaints: Mutex<HashMap<PathBuf, String>>,
}

impl Reading {
    pub fn new() -> Self {
        Self {
            unread: Mutex::default(),
            told: Notify::new(),
            busy: Mutex::default(),
            turns: Semaphore::new(READ_AT_ONCE_MAX),
            complaints: Mutex::default(),
        }
    }

    /// Whether this was not said of a store yet.
    fn is_news(&self, path: &Path, problem: Option<&str>) -> bool {
        let mut said = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match problem {
            Some(problem) => said.insert(path.to_owned(), problem.to_owned()),
            None => said.remove(path),
        };
        problem.is_some() && before.as_deref() != problem
    }

    /// Something was stored of these projects.
    pub fn stored(&self, roots: BTreeSet<String>) {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).extend(roots);
        self.told.notify_one();
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.unread.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was stored, and then nothing for a while, or for long enough.
    async fn quiet(&self) {
        self.told.notified().await;
        let latest = Instant::now() + PATIENCE;
        let calm = |now: Instant| latest.min(now + QUIET);
        while timeout_at(calm(Instant::now()), self.told.notified()).await.is_ok()
            && Instant::now() < latest
        {}
    }
}

/// Reads until the daemon leaves.
pub async fn run(shared: Arc<Shared>) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let left_behind = tokio::spawn(read_what_was_left(Arc::clone(&shared)));
    // It lives across the looks: begun anew, it would forget that something was stored.
    let mut quiet = std::pin::pin!(shared.reading.quiet());
    loop {
        tokio::select! {
            () = shared.leaving() => break,
            () = &mut quiet => {
                for root in shared.reading.take() {
                    shared.stores.existing(&root).into_iter().for_each(|path| read_soon(&shared, path));
                }
                quiet.set(shared.reading.quiet());
            }
            _ = look.tick() => {
                for store in shared.stores.open_now() {
                    read_soon(&shared, store.path().to_path_buf());
                }
                keep_up_notes(&shared);
            }
        }
    }
    left_behind.abort();
}

/// Has a store read, unless it is about to be.
fn read_soon(shared: &Arc<Shared>, path: PathBuf) {
    if shared.reading.busy().insert(path.clone()) {
        let turn = Turn { shared: Arc::clone(shared), path };
        tokio::spawn(read_in_turn(turn));
    }
}

/// A store that is being read, until this is dropped.
struct Turn {
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.reading.busy().remove(&self.path);
    }
}

/// Reads a store. One that cannot be read is left alone for a while.
async fn read_in_turn(turn: Turn) {
    let shared = Arc::clone(&turn.shared);
    let Ok(permit) = shared.reading.turns.acquire().await else { return };
    let (theirs, path) = (Arc::clone(&shared), turn.path.clone());
    let work = in_background(move || {
        let read = read(&theirs, &path);
        let wait = match &read {
            Ok(()) => None,
            Err(RecallError::Index(_)) => Some(INDEX_RETRY_AFTER),
            Err(_) => Some(RETRY_AFTER),
        };
        complain(&theirs, &path, read);
        wait
    });
    let wait = work.await.unwrap_or(Some(RETRY_AFTER));
    drop(permit);
    if let Some(wait) = wait {
        sleep(wait).await;
    }
}

/// Reads a store until it is up to date.
fn read(shared: &Shared, path: &Path) -> Result<(), RecallError> {
    if shared.is_leaving() {
        return Ok(());
    }
    let store = shared.stores.open(path)?;
    for problem in shared.copies.catch_up(&store)?.failed {
        shared.log.say(&format!("cannot copy a session: {problem}"));
    }
    // What cannot be noted for reflecting is told, and keeps nothing from being read.
    let watched = reflect::watch(shared, &store).and(transcripts::watch(shared, &store));
    // What was said can be found at once; what is made of it follows.
    let is_leaving = || shared.is_leaving();
    let found = shared.recall.keep_up(&store, &is_leaving);
    if shared.calendar.is_behind(&store)? {
        shared.calendar.catch_up(&store)?;
    }
    found.and_then(|_| shared.recall.keep_up(&store, &is_leaving))?;
    // Indexes take file descriptors too: those of stores that were closed meanwhile are not kept.
    shared.recall.close_unused();
    Ok(watched?)
}

/// Runs work on a thread of lower priority, which the threads that it starts inherit: whoever waits for
/// an answer comes first. `None` if it panicked, which its thread logs.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    // The runtime waits for a blocking task when the daemon leaves, and that one for the thread.
    let task = tokio::task::spawn_blocking(move || {
        let background = || {
            platform::lower_priority();
            work()
        };
        std::thread::scope(|scope| scope.spawn(background).join().ok())
    });
    task.await.ok().flatten()
}

/// Brings up to date what is found of notebooks without a store, where a question has asked for it.
fn keep_up_notes(shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    // One that panics is logged by its thread.
    tokio::task::spawn_blocking(move || {
        if let Err(error) = shared.recall.keep_up_notes(&|| shared.is_leaving()) {
            shared.log.say(&format!("cannot index notes: {}", error.explained()));
        }
    });
}

/// Goes through stores that nobody has opened: a daemon that was killed may have left some behind.
async fn read_what_was_left(shared: Arc<Shared>) {
    sleep(START_AFTER).await;
    let work = in_background(move || {
        for path in shared.stores.paths().iter().take(STORES_AT_START_MAX) {
            if shared.is_leaving() {
                return;
            }
            if shared.stores.is_open(path) {
                continue;
            }
            complain(&shared, path, read(&shared, path));
            shared.stores.close(path);
            shared.recall.close_unused();
        }
    });
    // What it leaves is read when it is needed.
    let _ = work.await;
}

fn complain(shared: &Shared, path: &Path, read: Result<(), RecallError>) {
    let problem = read.err().map(|error| error.explained());
    if shared.reading.is_news(path, problem.as_deref())
        && let Some(problem) = problem
    {
        shared.log.say(&format!("cannot read {}: {problem}", path.display()));
    }
}
