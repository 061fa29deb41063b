//! Maintenance: drains the spool, records edits of notes, checks files, closes idle stores, and stops
//! the daemon when it is idle.

use std::sync::Arc;
use std::time::Duration;

use super::state::Daemon;
use super::{agent_transcripts, damage, drain, losses, polish, reflect, remote_vectors, scheduler};

/// Interval of maintenance. With nothing to do it costs two system calls.
const EVERY: Duration = Duration::from_secs(2);

/// Runs all background tasks until the daemon stops. Notebooks have a task of their own: one that
/// another program keeps locked delays nothing else. So have the projections, which may be far behind
/// after a bulk.
pub async fn run(daemon: Arc<Daemon>) {
    tokio::join!(
        maintain_stores(Arc::clone(&daemon)),
        run_periodically(Arc::clone(&daemon), EVERY, record_note_edits),
        scheduler::run(Arc::clone(&daemon)),
        remote_vectors::run(Arc::clone(&daemon)),
        polish::run(Arc::clone(&daemon)),
        reflect::run(Arc::clone(&daemon)),
        agent_transcripts::run(daemon)
    );
}

/// Runs a task at an interval, one run at a time, until the daemon stops. A run that is under way then
/// is not waited for.
pub async fn run_periodically(daemon: Arc<Daemon>, every: Duration, task: fn(&Daemon)) {
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.leaving() => return,
            _ = tick.tick() => {}
        }
        tokio::select! {
            () = daemon.leaving() => return,
            () = run_blocking(&daemon, task) => {}
        }
    }
}

async fn maintain_stores(daemon: Arc<Daemon>) {
    let idle_exit = daemon.settings.daemon_idle_exit;
    let every = idle_exit.map_or(EVERY, |exit| EVERY.min(exit / 2)).max(Duration::from_millis(10));
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.leaving() => return,
            _ = tick.tick() => {}
        }
        run_blocking(&daemon, |daemon| drop(drain::drain(daemon))).await;
        run_blocking(&daemon, losses::take_back_arrived).await;
        run_blocking(&daemon, damage::check_open_stores).await;
        run_blocking(&daemon, close_idle).await;
        let is_idle = idle_exit.is_some_and(|exit| daemon.activity.idle_for() >= exit);
        if is_idle && !reflect::keeps_awake(&daemon) {
            run_blocking(&daemon, agent_transcripts::read_before_leaving).await;
            daemon.log.say("idle: stopping");
            daemon.leave();
        }
    }
}

async fn run_blocking(daemon: &Arc<Daemon>, task: fn(&Daemon)) {
    let daemon = Arc::clone(daemon);
    // A task that panics is logged by its thread, and runs again later.
    let _ = tokio::task::spawn_blocking(move || task(&daemon)).await;
}

/// Records edits that people made in open notebooks, so that each version is kept and the index is
/// current before a query. Where the system does not report changes, the next call finds them.
fn record_note_edits(daemon: &Daemon) {
    let notebooks = daemon.engine.notebooks().open_notebooks();
    for notebook in notebooks.iter().filter(|notebook| notebook.is_watched()) {
        if let Err(error) = notebook.refresh() {
            daemon.log.say(&format!("cannot read {}: {error}", notebook.root().display()));
        }
    }
}

fn close_idle(daemon: &Daemon) {
    let idle_ms = u64::try_from(daemon.settings.store_idle_close.as_millis()).unwrap_or(u64::MAX);
    daemon.engine.stores().close_idle(idle_ms);
    daemon.engine.notebooks().close_idle(idle_ms);
    daemon.engine.recall().close_unused();
}
