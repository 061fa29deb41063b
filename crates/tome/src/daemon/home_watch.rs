//! Stops the daemon when its home is removed or replaced.
//!
//! Clients find the daemon through the socket and the lock in the home, so they can no longer reach
//! it. It must not continue either: it would write to a home that replaced its own.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::state::Daemon;
use crate::platform;

/// Interval of the check, which costs two system calls.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Stops the daemon when its lock or socket is no longer the file that it created.
pub async fn run(daemon: Arc<Daemon>, lock: File) {
    let lock_path = daemon.settings.home.daemon_lock();
    let socket = daemon.socket().map(|socket| (socket.to_path_buf(), platform::file_id_at(socket)));
    let mut tick = tokio::time::interval(CHECK_INTERVAL);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.stop_requested() => return,
            _ = tick.tick() => {}
        }
        if platform::is_replaced(&lock_path, platform::open_file_id(&lock)) {
            daemon.log.write("exiting: the home was removed or replaced");
            // Exit at once, as in a crash: closing stores would write to paths that may belong to
            // another daemon now. Acknowledged events are already synced.
            tome_client::signal_process(std::process::id(), true);
            daemon.stop();
            return;
        }
        let is_gone =
            |(path, id): &(PathBuf, Option<platform::FileId>)| platform::is_replaced(path, *id);
        if socket.as_ref().is_some_and(is_gone) {
            daemon.log.write("stopping: the socket was removed or replaced");
            daemon.stop();
            return;
        }
    }
}
