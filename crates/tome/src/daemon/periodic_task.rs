//! Runs tasks of the daemon on blocking threads, at an interval until it stops.

use std::sync::Arc;
use std::time::Duration;

use super::state::Daemon;

/// Runs a task at an interval, one run at a time, until the daemon stops. Does not wait for the
/// current run then.
pub async fn run_periodically(daemon: Arc<Daemon>, interval: Duration, task: fn(&Daemon)) {
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.stop_requested() => return,
            _ = tick.tick() => {}
        }
        tokio::select! {
            () = daemon.stop_requested() => return,
            () = run_task(&daemon, task) => {}
        }
    }
}

pub async fn run_task(daemon: &Arc<Daemon>, task: fn(&Daemon)) {
    let daemon = Arc::clone(daemon);
    // A panic is logged by the thread; the task runs again later.
    let _ = tokio::task::spawn_blocking(move || task(&daemon)).await;
}
