//! Draining the spool: what hooks wrote down while the daemon was away or busy.
//!
//! A store that does not take its events keeps nobody else's out: they are held in the spool and
//! tried again later. Neither does a hook that was stopped while it holds the spool's lock.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use tome_engine::{SpoolFile, SpoolLine};
use tome_home::HomeError;
use tome_model::{DeliveredDraft, Draft};

use super::state::Daemon;

/// Spooled events stored together, and how much of them is held in memory meanwhile.
const BATCH_EVENTS_MAX: usize = 500;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Places that the events of a batch come from: each may need a store of its own to be open.
const BATCH_PLACES_MAX: usize = 8;

/// How long a question waits for another thread that is draining and stores nothing meanwhile.
const STALLED_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it waits in all, however much there is to store.
const DRAINED_TIMEOUT: Duration = Duration::from_secs(30);

/// Drains the spool, if anything is in it. Whoever comes while it is being drained waits for that,
/// within reason: what a hook has handed over is in the next answer. Returns a notice for that answer if
/// events still wait in the spool.
pub fn drain(daemon: &Daemon) -> Option<String> {
    if daemon.engine.spool().has_work(daemon.engine.clock().now()) {
        let _busy = daemon.begin();
        if let Some(_one_at_a_time) = wait_for_turn(daemon) {
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
        Err(error) => return complain(daemon, "cannot take the spool", &error.explained()),
    };
    let mut is_well = !files.is_empty();
    for file in files {
        match drain_file(daemon, file) {
            Ok(drained) => is_well &= drained.held == 0,
            // The file stays and is tried again.
            Err(error) => {
                is_well = false;
                complain(daemon, "cannot drain the spool", &error.explained());
            }
        }
    }
    // Nothing that was tried failed, and nothing is left that is not being tried.
    if is_well && daemon.engine.spool().count_waiting().events == 0 {
        daemon.engine.spool().clear_failures();
    }
}

/// Waits for a turn to drain: as long as whoever is draining makes progress, but not for ever.
fn wait_for_turn(daemon: &Daemon) -> Option<MutexGuard<'_, ()>> {
    let began = Instant::now();
    let (mut stored, mut moved) = (daemon.counters.drained.load(Ordering::Relaxed), began);
    loop {
        match daemon.draining.try_lock() {
            Ok(turn) => return Some(turn),
            Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        let now = daemon.counters.drained.load(Ordering::Relaxed);
        if now != stored {
            (stored, moved) = (now, Instant::now());
        }
        if moved.elapsed() >= STALLED_TIMEOUT || began.elapsed() >= DRAINED_TIMEOUT {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a lock of the standard library cannot be waited for with a deadline"
        )]
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Logs a problem once, however often it is met.
fn complain(daemon: &Daemon, what: &str, problem: &str) {
    if daemon.engine.spool().record_failure(problem, daemon.engine.clock().now()) {
        daemon.log.say(&format!("{what}: {problem}"));
    }
}

/// What became of the events of a file.
#[derive(Default)]
struct Drained {
    stored: u64,
    held: u64,
    /// Lines that are no event or that no store can take.
    aside: Vec<u8>,
    /// Lines whose store did not take them.
    hold: Vec<u8>,
    /// Where those come from: what else comes from there is not tried in vain.
    failing: HashSet<Place>,
}

/// What the project of an event follows from.
type Place = (String, Option<String>);

fn place(draft: &Draft) -> Place {
    (draft.cwd.clone(), draft.project.clone())
}

/// Stores what is in a file, holds what its store does not take, sets aside what is no event or
/// cannot be stored, and deletes the file.
fn drain_file(daemon: &Daemon, file: SpoolFile) -> Result<Drained, HomeError> {
    let mut drained = Drained::default();
    let mut batch = Batch::default();
    for line in file.read_lines()? {
        match line? {
            SpoolLine::Draft(one, line) if drained.failing.contains(&place(&one.draft)) => {
                drained.hold(&line);
            }
            SpoolLine::Draft(one, line) => batch.add(*one, line),
            SpoolLine::Damaged(line) => drained.aside.extend(line),
        }
        if batch.is_full() {
            std::mem::take(&mut batch).store(daemon, &mut drained);
        }
        if drained.hold.len() >= BATCH_BYTES_MAX {
            drained.put_by(daemon)?;
        }
    }
    batch.store(daemon, &mut drained);
    drained.put_by(daemon)?;
    file.delete()?;
    if drained.stored > 0 {
        daemon.log.say(&format!("drained {} events from the spool", drained.stored));
    }
    Ok(drained)
}

impl Drained {
    fn hold(&mut self, line: &[u8]) {
        self.held += 1;
        self.hold.extend(line);
    }

    /// Writes down, synced, what could not be stored.
    fn put_by(&mut self, daemon: &Daemon) -> Result<(), HomeError> {
        let folder = daemon.settings.home.spool();
        if !self.aside.is_empty() {
            let path = folder.join("damaged.jsonl");
            daemon
                .engine
                .spool()
                .append_damaged(&self.aside)
                .map_err(HomeError::file("write", &path))?;
            daemon.log.say("set lines of the spool aside in damaged.jsonl");
        }
        if !self.hold.is_empty() {
            let path = folder.join("held.jsonl");
            daemon
                .engine
                .spool()
                .append_held(&self.hold)
                .map_err(HomeError::file("write", &path))?;
        }
        self.aside.clear();
        self.hold.clear();
        Ok(())
    }
}

/// Spooled events that are stored together, and the lines they were read from.
#[derive(Default)]
struct Batch {
    drafts: Vec<DeliveredDraft>,
    lines: Vec<Vec<u8>>,
    places: HashSet<Place>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, delivered: DeliveredDraft, line: Vec<u8>) {
        self.bytes += line.len();
        self.places.insert(place(&delivered.draft));
        self.drafts.push(delivered);
        self.lines.push(line);
    }

    fn is_full(&self) -> bool {
        self.drafts.len() >= BATCH_EVENTS_MAX
            || self.bytes >= BATCH_BYTES_MAX
            || self.places.len() >= BATCH_PLACES_MAX
    }

    /// Stores the batch. An event that is itself at fault is set aside, one whose store fails is
    /// held: neither must keep those behind it waiting.
    fn store(self, daemon: &Daemon, drained: &mut Drained) {
        let places: Vec<Place> = self.drafts.iter().map(|one| place(&one.draft)).collect();
        let answers = daemon.ingest(self.drafts).into_iter().zip(places);
        for ((answer, place), line) in answers.zip(self.lines) {
            match answer {
                Ok(_) => {
                    drained.stored += 1;
                    daemon.counters.drained.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) if error.is_callers_fault() => drained.aside.extend(line),
                Err(error) => {
                    drained.hold(&line);
                    drained.failing.insert(place);
                    complain(daemon, "events wait in the spool", &error.explained());
                }
            }
        }
    }
}
