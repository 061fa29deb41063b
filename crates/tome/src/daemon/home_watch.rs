//! Notices that the daemon's home is gone.
//!
//! Somebody may remove the home, move it away, or put another one in its place while the daemon runs.
//! Nobody can reach such a daemon: clients look for the socket and the lock in the home. It must not
//! go on either, because it would write into whatever is at those paths now.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::state::Daemon;
use crate::{connect, platform};

/// How often the daemon looks. One look costs two system calls.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Makes the daemon leave when its lock or its socket is no longer the file that it made.
pub async fn run(daemon: Arc<Daemon>, lock: File) {
    let lock_path = connect::daemon_lock_path(&daemon.settings);
    let socket = daemon.socket().map(|socket| (socket.to_path_buf(), platform::file_id_at(socket)));
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = daemon.leaving() => return,
            _ = look.tick() => {}
        }
        if platform::is_replaced(&lock_path, platform::open_file_id(&lock)) {
            daemon.log.say("the home was removed or replaced: ending");
            // At once, as in a crash: closing stores would write to their paths, where another
            // daemon may have its own by now. What was acknowledged is synced.
            platform::signal_process(std::process::id(), true);
            daemon.leave();
            return;
        }
        let is_gone =
            |(path, id): &(PathBuf, Option<platform::FileId>)| platform::is_replaced(path, *id);
        if socket.as_ref().is_some_and(is_gone) {
            daemon.log.say("the socket was removed or replaced: leaving");
            daemon.leave();
            return;
        }
    }
}
