//! A command and all its descendants as a process group that can be killed at once.
//!
//! The only file of this crate with platform-specific process code. On Unix the command leads a process
//! group; its exit is detected without reaping it, so that its pid cannot be reused before the group is
//! killed. Elsewhere only the command itself is killed.

use std::process::{Child, Command, ExitStatus};

/// A running command, killed when dropped.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
    ended: bool,
}

impl ProcessGroup {
    pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { child: command.spawn()?, ended: false })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the command is running. If not, other processes of its group may be.
    pub(crate) fn is_running(&mut self) -> bool {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), options), Ok(None))
        }
        #[cfg(not(unix))]
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the remaining processes of the group and returns the command's exit status.
    pub(crate) fn kill_and_wait(&mut self) -> std::io::Result<ExitStatus> {
        if !self.ended {
            self.ended = true;
            self.kill();
        }
        self.child.wait()
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Fails if the group is already empty, which is fine.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let _ = self.kill_and_wait();
    }
}
