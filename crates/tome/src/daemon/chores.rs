//! What the daemon does by itself: drain the spool, count what was stored, close what is unused,
//! and leave when nobody needs it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_engine::{EngineError, SpoolFile, SpoolLine, catch_up};
use tome_model::Draft;

use super::shared::Shared;

/// How often the daemon looks at the spool and at the time. One look costs two system calls.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Counting waits until no event has come for this long, so that it does not slow a bulk down.
const QUIET: Duration = Duration::from_millis(200);
/// Spooled events stored together.
const DRAIN_BATCH_MAX: usize = 500;

/// Does the chores until the daemon leaves.
pub async fn run(shared: Arc<Shared>) {
    let idle_exit = shared.settings.daemon_idle_exit;
    let look_every = idle_exit.map_or(LOOK_EVERY, |exit| LOOK_EVERY.min(exit / 2)).max(Duration::from_millis(10));
    let mut look = tokio::time::interval(look_every);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            () = quiet(&shared) => in_background(&shared, count).await,
            _ = look.tick() => {
                if shared.spool.is_waiting() {
                    in_background(&shared, drain).await;
                }
                in_background(&shared, close_unused).await;
                if idle_exit.is_some_and(|exit| shared.activity.idle_for() >= exit) {
                    shared.log.say("idle: leaving");
                    shared.leave();
                }
            }
        }
    }
}

/// Something was stored, and then nothing for a while.
async fn quiet(shared: &Shared) {
    shared.stored.notified().await;
    while tokio::time::timeout(QUIET, shared.stored.notified()).await.is_ok() {}
}

async fn in_background(shared: &Arc<Shared>, chore: fn(&Shared)) {
    let shared = Arc::clone(shared);
    // A chore that panics is logged by the runtime's thread and tried again later.
    let _ = tokio::task::spawn_blocking(move || chore(&shared)).await;
}

fn count(shared: &Shared) {
    for store in shared.stores.open_now() {
        if let Err(error) = catch_up(&store) {
            shared.log.say(&format!("cannot count {}: {error}", store.path().display()));
        }
    }
}

fn close_unused(shared: &Shared) {
    let idle_ms = u64::try_from(shared.settings.store_idle_close.as_millis()).unwrap_or(u64::MAX);
    shared.stores.close_idle(idle_ms);
}

fn drain(shared: &Shared) {
    let _busy = shared.begin();
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
        shared.log.say("set damaged lines of the spool aside in damaged.jsonl");
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
