//! Drains the spool: stores the events that hooks spooled while the daemon was down or busy.
//!
//! Events whose store fails are held in the spool and retried later, so that they do not block the
//! events of other stores. A hook that is suspended while it holds the spool's lock blocks nothing
//! either.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use tome_engine::{SpoolFile, SpoolLine};
use tome_home::HomeError;
use tome_model::{DeliveredDraft, Draft};

use super::state::Daemon;

/// Limits of one batch of spooled events.
const BATCH_EVENTS_MAX: usize = 500;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Working directories per batch: each may need a store of its own to be open.
const BATCH_ORIGINS_MAX: usize = 8;

/// How long a caller waits for another thread that drains without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it waits in total.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Drains the spool if it has events. A caller that arrives during a drain waits for it, so that
/// its response includes every event spooled before. Returns a notice for the response if events
/// are still in the spool.
pub fn drain(daemon: &Daemon) -> Option<String> {
    if daemon.engine.spool().has_work(daemon.engine.clock().now()) {
        let _guard = daemon.activity.begin();
        if let Some(_lock) = acquire_drain_lock(daemon) {
            drain_files(daemon);
        }
    } else if !daemon.engine.spool().is_paused(daemon.engine.clock().now()) {
        return None;
    }
    match daemon.engine.spool().count_waiting().events {
        0 => None,
        1 => Some("1 event still in the spool (see `tome status`)".to_owned()),
        events => Some(format!("{events} events still in the spool (see `tome status`)")),
    }
}

fn drain_files(daemon: &Daemon) {
    let files = match daemon.engine.spool().take_files(daemon.engine.clock().now()) {
        Ok(files) => files,
        Err(error) => return log_failure(daemon, "cannot open the spool", &error.explained()),
    };
    let mut is_clean = !files.is_empty();
    for file in files {
        match drain_file(daemon, file) {
            Ok(drained) => is_clean &= drained.held == 0,
            // The file stays and is retried.
            Err(error) => {
                is_clean = false;
                log_failure(daemon, "cannot drain the spool", &error.explained());
            }
        }
    }
    // Every attempt succeeded, and nothing else is waiting.
    if is_clean && daemon.engine.spool().count_waiting().events == 0 {
        daemon.engine.spool().clear_failures();
    }
}

/// Waits for the drain lock while its holder makes progress, up to a limit.
fn acquire_drain_lock(daemon: &Daemon) -> Option<MutexGuard<'_, ()>> {
    let began = Instant::now();
    let (mut stored, mut progressed) = (daemon.counters.drained.load(Ordering::Relaxed), began);
    loop {
        match daemon.drain_lock.try_lock() {
            Ok(lock) => return Some(lock),
            Err(TryLockError::Poisoned(lock)) => return Some(lock.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        let now = daemon.counters.drained.load(Ordering::Relaxed);
        if now != stored {
            (stored, progressed) = (now, Instant::now());
        }
        if progressed.elapsed() >= STALL_TIMEOUT || began.elapsed() >= DRAIN_TIMEOUT {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "std::sync::Mutex has no lock with a timeout"
        )]
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Logs a problem the first time it occurs.
fn log_failure(daemon: &Daemon, context: &str, problem: &str) {
    if daemon.engine.spool().record_failure(problem, daemon.engine.clock().now()) {
        daemon.log.write(&format!("{context}: {problem}"));
    }
}

/// The result of draining one file.
#[derive(Default)]
struct DrainResult {
    stored: u64,
    held: u64,
    /// Lines that are not an event, or that no store can accept.
    damaged_lines: Vec<u8>,
    /// Lines whose store failed.
    held_lines: Vec<u8>,
    /// Origins of the failed events; later events from there are held without an attempt.
    failing: HashSet<Origin>,
}

/// The fields of a draft that determine its project.
type Origin = (String, Option<String>);

fn find_origin(draft: &Draft) -> Origin {
    (draft.cwd.clone(), draft.project.clone())
}

/// Stores the events of a file and deletes it. Events whose store fails are held; invalid lines go
/// to `damaged.jsonl`.
fn drain_file(daemon: &Daemon, file: SpoolFile) -> Result<DrainResult, HomeError> {
    let mut drained = DrainResult::default();
    let mut batch = SpoolBatch::default();
    for line in file.read_lines()? {
        match line? {
            SpoolLine::Draft(one, line) if drained.failing.contains(&find_origin(&one.draft)) => {
                drained.hold(&line);
            }
            SpoolLine::Draft(one, line) => batch.add(*one, line),
            SpoolLine::Damaged(line) => drained.damaged_lines.extend(line),
        }
        if batch.is_full() {
            std::mem::take(&mut batch).store(daemon, &mut drained);
        }
        if drained.held_lines.len() >= BATCH_BYTES_MAX {
            drained.write_unstored(daemon)?;
        }
    }
    batch.store(daemon, &mut drained);
    drained.write_unstored(daemon)?;
    file.delete()?;
    if drained.stored > 0 {
        daemon.log.write(&format!("drained {} events from the spool", drained.stored));
    }
    Ok(drained)
}

impl DrainResult {
    fn hold(&mut self, line: &[u8]) {
        self.held += 1;
        self.held_lines.extend(line);
    }

    /// Writes the held and the damaged lines to their files, synced.
    fn write_unstored(&mut self, daemon: &Daemon) -> Result<(), HomeError> {
        let folder = daemon.settings.home.spool();
        if !self.damaged_lines.is_empty() {
            let path = folder.join("damaged.jsonl");
            daemon
                .engine
                .spool()
                .append_damaged(&self.damaged_lines)
                .map_err(HomeError::file("write", &path))?;
            daemon.log.write("moved damaged lines of the spool to damaged.jsonl");
        }
        if !self.held_lines.is_empty() {
            let path = folder.join("held.jsonl");
            daemon
                .engine
                .spool()
                .append_held(&self.held_lines)
                .map_err(HomeError::file("write", &path))?;
        }
        self.damaged_lines.clear();
        self.held_lines.clear();
        Ok(())
    }
}

/// Spooled events that are stored together, and the lines they were read from.
#[derive(Default)]
struct SpoolBatch {
    drafts: Vec<DeliveredDraft>,
    lines: Vec<Vec<u8>>,
    origins: HashSet<Origin>,
    bytes: usize,
}

impl SpoolBatch {
    fn add(&mut self, delivered: DeliveredDraft, line: Vec<u8>) {
        self.bytes += line.len();
        self.origins.insert(find_origin(&delivered.draft));
        self.drafts.push(delivered);
        self.lines.push(line);
    }

    fn is_full(&self) -> bool {
        self.drafts.len() >= BATCH_EVENTS_MAX
            || self.bytes >= BATCH_BYTES_MAX
            || self.origins.len() >= BATCH_ORIGINS_MAX
    }

    /// Stores the batch. Invalid events count as damaged; those whose store fails are held.
    fn store(self, daemon: &Daemon, drained: &mut DrainResult) {
        let origins: Vec<Origin> = self.drafts.iter().map(|one| find_origin(&one.draft)).collect();
        let results = daemon.ingest(self.drafts).into_iter().zip(origins);
        for ((result, origin), line) in results.zip(self.lines) {
            match result {
                Ok(_) => {
                    drained.stored += 1;
                    daemon.counters.drained.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) if error.is_callers_fault() => drained.damaged_lines.extend(line),
                Err(error) => {
                    drained.hold(&line);
                    drained.failing.insert(origin);
                    log_failure(daemon, "events wait in the spool", &error.explained());
                }
            }
        }
    }
}
