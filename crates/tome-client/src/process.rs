//! Signals to the daemon's process, and the folder it runs in.

use std::path::PathBuf;
use std::process::Child;

use crate::UserFolders;

/// Sends SIGTERM to a process, or SIGKILL if `force`. Returns whether the signal was sent.
pub fn signal_process(pid: u32, force: bool) -> bool {
    #[cfg(unix)]
    {
        let signal =
            if force { rustix::process::Signal::KILL } else { rustix::process::Signal::TERM };
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::kill_process(pid, signal).is_ok())
    }
    #[cfg(not(unix))]
    {
        let _ = (pid, force);
        false
    }
}

/// A folder that always exists, as the working directory of a long-running process.
pub(crate) fn neutral_folder(user: &UserFolders) -> PathBuf {
    if cfg!(windows) { user.temporary.clone() } else { PathBuf::from("/") }
}

/// Waits for the child on a background thread, so that a client that outlives its daemon leaves no
/// zombie process.
pub(crate) fn reap_in_background(mut child: Child) {
    std::thread::spawn(move || drop(child.wait()));
}
