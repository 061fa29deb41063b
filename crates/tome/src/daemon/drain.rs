//! Draining the spool: what hooks wrote down while the daemon was away or busy.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tome_engine::{EngineError, SpoolFile, SpoolLine};
use tome_model::Draft;

use super::shared::Shared;

/// Spooled events stored together, and how much of them is held in memory meanwhile.
const BATCH_EVENTS_MAX: usize = 500;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Drains the spool, if anything is in it. Whoever comes while it is being drained waits for that:
/// what a hook has handed over is there for the next question.
pub fn drain(shared: &Shared) {
    if !shared.spool.is_waiting() {
        return;
    }
    let _busy = shared.begin();
    let _one_at_a_time = shared.draining.lock().unwrap_or_else(PoisonError::into_inner);
    let files = match shared.spool.take(shared.clock.now()) {
        Ok(files) => files,
        Err(error) => return shared.log.say(&format!("cannot take the spool: {error}")),
    };
    for file in files {
        match drain_file(shared, file) {
            Ok(0) => {}
            Ok(drained) => {
                shared.counters.drained.fetch_add(drained, Ordering::Relaxed);
                shared.log.say(&format!("drained {drained} events from the spool"));
            }
            // The file stays and is tried again.
            Err(error) => return shared.log.say(&format!("cannot drain the spool: {error}")),
        }
    }
}

/// Stores everything in a file, sets aside what is no event or cannot be stored, and deletes the
/// file.
fn drain_file(shared: &Shared, file: SpoolFile) -> Result<u64, Arc<EngineError>> {
    let mut drained = 0;
    let mut aside = Vec::new();
    let mut batch = Batch::default();
    for line in file.lines()? {
        match line? {
            SpoolLine::Draft(draft, line) => batch.add(*draft, line),
            SpoolLine::Damaged(line) => aside.extend(line),
        }
        if batch.is_full() {
            drained += std::mem::take(&mut batch).store(shared, &mut aside)?;
        }
    }
    drained += batch.store(shared, &mut aside)?;
    if !aside.is_empty() {
        let path = shared.settings.home.spool().join("damaged.jsonl");
        shared.spool.set_aside(&aside).map_err(EngineError::file("write", &path))?;
        shared.log.say("set lines of the spool aside in damaged.jsonl");
    }
    file.done()?;
    Ok(drained)
}

/// Spooled events that are stored together, and the lines they were read from.
#[derive(Default)]
struct Batch {
    drafts: Vec<Draft>,
    lines: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, draft: Draft, line: Vec<u8>) {
        self.bytes += line.len();
        self.drafts.push(draft);
        self.lines.push(line);
    }

    fn is_full(&self) -> bool {
        self.drafts.len() >= BATCH_EVENTS_MAX || self.bytes >= BATCH_BYTES_MAX
    }

    /// Stores the batch. An event that is itself at fault is set aside: it must not hold up those
    /// behind it for ever.
    fn store(self, shared: &Shared, aside: &mut Vec<u8>) -> Result<u64, Arc<EngineError>> {
        let mut stored = 0;
        for (answer, line) in shared.ingest(self.drafts).into_iter().zip(self.lines) {
            match answer {
                Ok(_) => stored += 1,
                Err(error) if error.is_callers_fault() => aside.extend(line),
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }
}
