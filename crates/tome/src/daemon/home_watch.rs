//! Notices that the daemon's home is gone.
//!
//! Somebody may remove the home, move it away, or put another one in its place while the daemon runs.
//! Nobody can reach such a daemon: clients look for the socket and the lock in the home. It must not
//! go on either, because it would write into whatever is at those paths now.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::{platform, reach};

/// How often the daemon looks. One look costs two system calls.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Makes the daemon leave when its lock or its socket is no longer the file that it made.
pub async fn run(shared: Arc<Shared>, lock: File) {
    let lock_path = reach::daemon_lock(&shared.settings);
    let socket = shared.socket().map(|socket| (socket.to_path_buf(), platform::file_id(socket)));
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            _ = look.tick() => {}
        }
        if let Some(gone) = missing(&lock, &lock_path, socket.as_ref()) {
            shared.log.say(&format!("{} was removed or replaced: leaving", gone.display()));
            shared.leave();
            return;
        }
    }
}

/// The file that is no longer what the daemon made, if one is.
fn missing<'a>(
    lock: &File,
    lock_path: &'a Path,
    socket: Option<&'a (PathBuf, Option<platform::FileId>)>,
) -> Option<&'a Path> {
    if platform::was_replaced(lock_path, platform::file_id_of(lock)) {
        return Some(lock_path);
    }
    let (path, id) = socket?;
    platform::was_replaced(path, *id).then_some(path.as_path())
}
