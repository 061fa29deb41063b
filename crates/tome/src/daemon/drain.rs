//! Draining the spool: what hooks wrote down while the daemon was away or busy.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tome_engine::{EngineError, SpoolFile, SpoolLine};
use tome_model::Draft;

use super::shared::Shared;

/// Spooled events stored together.
const DRAIN_BATCH_MAX: usize = 500;

/// Drains the spool, if anything is in it. Whoever comes while it is being drained waits for that:
/// what a hook has handed over is there for the next question.
pub fn drain(shared: &Shared) {
    if !shared.spool.is_waiting() {
        return;
    }
    let _busy = shared.begin();
    let _one_at_a_time = shared
        .draining
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let files = match shared.spool.take(shared.clock.now()) {
        Ok(files) => files,
        Err(error) => return shared.log.say(&format!("cannot take the spool: {error}")),
    };
    for file in files {
        match drain_file(shared, file) {
            Ok(0) => {}
            Ok(drained) => {
                shared
                    .counters
                    .drained
                    .fetch_add(drained, Ordering::Relaxed);
                shared
                    .log
                    .say(&format!("drained {drained} events from the spool"));
            }
            // The file stays and is tried again.
            Err(error) => return shared.log.say(&format!("cannot drain the spool: {error}")),
        }
    }
}

/// Stores everything in a file, sets aside what cannot be read, and deletes the file.
fn drain_file(shared: &Shared, file: SpoolFile) -> Result<u64, Arc<EngineError>> {
    let mut drained = 0;
    let mut damaged = Vec::new();
    let mut batch = Vec::new();
    for line in file.lines()? {
        match line? {
            SpoolLine::Draft(draft) => batch.push(*draft),
            SpoolLine::Damaged(bytes) => damaged.extend(bytes),
        }
        if batch.len() >= DRAIN_BATCH_MAX {
            drained += store(shared, std::mem::take(&mut batch))?;
        }
    }
    drained += store(shared, batch)?;
    if !damaged.is_empty() {
        shared.spool.set_aside(&damaged).map_err(|error| {
            EngineError::file("write", &shared.settings.home.spool().join("damaged.jsonl"))(error)
        })?;
        shared
            .log
            .say("set damaged lines of the spool aside in damaged.jsonl");
    }
    file.done()?;
    Ok(drained)
}

fn store(shared: &Shared, batch: Vec<Draft>) -> Result<u64, Arc<EngineError>> {
    let mut stored = 0;
    for answer in shared.ingest(batch) {
        answer?;
        stored += 1;
    }
    Ok(stored)
}
