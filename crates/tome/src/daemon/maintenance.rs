//! Maintenance: drains the spool, records edits of notes, checks files, closes idle stores, and stops
//! the daemon when it is idle.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::periodic_task::{run_periodically, run_task};
use super::state::Daemon;
use super::{
    agent_transcripts, damage, deep_vectors, drain, losses, reflect, remote_vectors, rewrite_nodes,
    visit_stores,
};
use crate::platform;

/// Interval of maintenance. With nothing to do it costs a few system calls.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(2);
/// Memory that a daemon with no open store may keep, mapped program and model included. A new daemon answers
/// within milliseconds.
const IDLE_MEMORY_MAX: u64 = 40 << 20;
/// Shortest time without work after which a daemon stops in order to return memory.
const QUIET_MIN: Duration = Duration::from_mins(1);
/// Share of one processor that a daemon without work uses at most, in percent.
const QUIET_PROCESSOR_PERCENT: u128 = 2;

/// Runs all background tasks until the daemon stops. Notebooks have their own task, so that one
/// that another program keeps locked delays nothing else. So have the projections, which may be far
/// behind after a bulk import.
pub async fn run(daemon: Arc<Daemon>) {
    tokio::join!(
        maintain_stores(Arc::clone(&daemon)),
        run_periodically(Arc::clone(&daemon), MAINTENANCE_INTERVAL, record_note_edits),
        visit_stores::run(Arc::clone(&daemon)),
        remote_vectors::run(Arc::clone(&daemon)),
        deep_vectors::run(Arc::clone(&daemon)),
        rewrite_nodes::run(Arc::clone(&daemon)),
        reflect::run(Arc::clone(&daemon)),
        agent_transcripts::run(daemon)
    );
}

async fn maintain_stores(daemon: Arc<Daemon>) {
    let idle_timeout = daemon.settings.daemon_idle_exit;
    let interval = idle_timeout
        .map_or(MAINTENANCE_INTERVAL, |exit| MAINTENANCE_INTERVAL.min(exit / 2))
        .max(Duration::from_millis(10));
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut quiet = QuietPeriod::new();
    loop {
        tokio::select! {
            () = daemon.stop_requested() => return,
            _ = tick.tick() => {}
        }
        run_task(&daemon, |daemon| drop(drain::drain(daemon))).await;
        run_task(&daemon, losses::remove_arrived).await;
        run_task(&daemon, damage::check_open_stores).await;
        run_task(&daemon, close_idle_stores).await;
        quiet.observe(platform::processor_time());
        if let Some(reason) = Idleness::measure(&daemon, &quiet).reason_to_stop()
            && !reflect::has_waiting_sessions(&daemon)
        {
            run_task(&daemon, agent_transcripts::read_before_exit).await;
            daemon.log.write(reason);
            daemon.stop();
        }
    }
}

/// Time during which the process has hardly worked. Background work may need no open store: vectors are
/// computed while their store is closed.
struct QuietPeriod {
    since: Instant,
    observed: Instant,
    processor: Duration,
}

impl QuietPeriod {
    fn new() -> Self {
        let now = Instant::now();
        Self { since: now, observed: now, processor: platform::processor_time() }
    }

    /// Takes the processor time used so far; the period begins again if much was used meanwhile.
    fn observe(&mut self, processor: Duration) {
        let now = Instant::now();
        let used = processor.saturating_sub(self.processor);
        let passed = now.duration_since(self.observed);
        if used.as_micros() * 100 > passed.as_micros() * QUIET_PROCESSOR_PERCENT {
            self.since = now;
        }
        (self.observed, self.processor) = (now, processor);
    }
}

/// Whether the daemon has anything to do, and the memory that it holds.
struct Idleness {
    /// Time since the last call.
    idle: Duration,
    /// Time since the process last worked.
    quiet: Duration,
    has_open_stores: bool,
    resident_bytes: u64,
    /// Whether the next client starts a daemon again.
    can_restart: bool,
    /// The setting `daemon.idle_exit`; `None` if the daemon never stops by itself.
    idle_exit: Option<Duration>,
    /// The setting `store.idle_close`.
    idle_close: Duration,
}

impl Idleness {
    fn measure(daemon: &Daemon, quiet: &QuietPeriod) -> Self {
        let settings = &daemon.settings;
        Self {
            idle: daemon.activity.idle_for(),
            quiet: quiet.since.elapsed(),
            has_open_stores: !daemon.engine.stores().open_stores().is_empty(),
            resident_bytes: platform::resident_bytes(),
            can_restart: settings.daemon_autostart && settings.daemon_endpoint.is_none(),
            idle_exit: daemon.settings.daemon_idle_exit,
            idle_close: daemon.settings.store_idle_close,
        }
    }

    /// The reason to stop the daemon, as written to its log.
    fn reason_to_stop(&self) -> Option<&'static str> {
        if self.idle >= self.idle_exit? {
            return Some("idle: stopping");
        }
        let least = self.idle_close.max(QUIET_MIN);
        let is_unused = !self.has_open_stores && self.idle >= least && self.quiet >= least;
        (is_unused && self.can_restart && self.resident_bytes > IDLE_MEMORY_MAX)
            .then_some("idle: stopping to return memory")
    }
}

/// Records edits that people made in open notebooks, so that each version is kept and the index is
/// current before a query. Where the system reports no changes, the next call finds them.
fn record_note_edits(daemon: &Daemon) {
    let notebooks = daemon.engine.notebooks().open_notebooks();
    for notebook in notebooks.iter().filter(|notebook| notebook.is_watched()) {
        if let Err(error) = notebook.refresh() {
            daemon.log.write(&format!("cannot read {}: {error}", notebook.root().display()));
        }
    }
}

fn close_idle_stores(daemon: &Daemon) {
    let idle_ms = u64::try_from(daemon.settings.store_idle_close.as_millis()).unwrap_or(u64::MAX);
    daemon.engine.stores().close_idle(idle_ms);
    daemon.engine.notebooks().close_idle(idle_ms);
    daemon.engine.recall().close_unused(daemon.settings.store_idle_close);
    daemon.engine.topics().close_unused();
}
