//! What the daemon does by itself: drain the spool, take in edits of notes, count what was stored,
//! make contents of it, close what is unused, and leave when nobody needs it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_home::catch_up;

use super::shared::Shared;
use super::{damage, drain, far, losses, polish, reading, reflect, transcripts};

/// After so much, what the stores hold in memory is written to tables at the next quiet moment.
const FLUSH_BYTES: u64 = 4 * 1024 * 1024;
/// How often the daemon looks at the spool and at the time. One look costs two system calls.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Counting waits until no event has come for this long, so that it does not slow a bulk down.
const QUIET: Duration = Duration::from_millis(200);

/// Does the chores until the daemon leaves. Notebooks are looked at apart: one that another program
/// keeps locked holds up nothing else. So are the contents, which may be far behind after a bulk.
pub async fn run(shared: Arc<Shared>) {
    tokio::join!(
        look_after_stores(Arc::clone(&shared)),
        look_at_notebooks(Arc::clone(&shared)),
        reading::run(Arc::clone(&shared)),
        far::run(Arc::clone(&shared)),
        polish::run(Arc::clone(&shared)),
        reflect::run(Arc::clone(&shared)),
        transcripts::run(shared)
    );
}

async fn look_at_notebooks(shared: Arc<Shared>) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            _ = look.tick() => in_background(&shared, notice_edits).await,
        }
    }
}

async fn look_after_stores(shared: Arc<Shared>) {
    let idle_exit = shared.settings.daemon_idle_exit;
    let look_every = idle_exit
        .map_or(LOOK_EVERY, |exit| LOOK_EVERY.min(exit / 2))
        .max(Duration::from_millis(10));
    let mut look = tokio::time::interval(look_every);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // It lives across the looks: begun anew, it would forget that something was stored.
    let mut calm = std::pin::pin!(quiet(&shared));
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            () = &mut calm => {
                in_background(&shared, settle).await;
                calm.set(quiet(&shared));
            }
            _ = look.tick() => {
                in_background(&shared, |shared| drop(drain::drain(shared))).await;
                in_background(&shared, losses::take_back_arrived).await;
                in_background(&shared, damage::check_open_stores).await;
                in_background(&shared, close_unused).await;
                let is_idle = idle_exit.is_some_and(|exit| shared.activity.idle_for() >= exit);
                if is_idle && !reflect::keeps_awake(&shared) {
                    in_background(&shared, transcripts::read_before_leaving).await;
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

/// Counts what came, and after a bulk gives back the memory it took.
fn settle(shared: &Shared) {
    count(shared);
    if shared.counters.unflushed.load(Ordering::Relaxed) < FLUSH_BYTES {
        return;
    }
    shared.counters.unflushed.store(0, Ordering::Relaxed);
    for store in shared.stores.open_now() {
        if let Err(error) = store.flush() {
            shared.log.say(&format!("cannot flush {}: {error}", store.path().display()));
        }
    }
}

fn count(shared: &Shared) {
    for store in shared.stores.open_now() {
        if let Err(error) = catch_up(&store) {
            shared.log.say(&format!("cannot count {}: {error}", store.path().display()));
        }
    }
}

/// Takes in what people changed in notebooks that are open, so that each of their versions is kept
/// and the index is true before anybody asks. Where the system does not tell of changes, the next
/// call finds them.
fn notice_edits(shared: &Shared) {
    for notebook in shared.notebooks.open_now().iter().filter(|notebook| notebook.is_watched()) {
        if let Err(error) = notebook.refresh() {
            shared.log.say(&format!("cannot look at {}: {error}", notebook.root().display()));
        }
    }
}

fn close_unused(shared: &Shared) {
    let idle_ms = u64::try_from(shared.settings.store_idle_close.as_millis()).unwrap_or(u64::MAX);
    shared.stores.close_idle(idle_ms);
    shared.notebooks.close_idle(idle_ms);
    shared.recall.close_unused();
}
