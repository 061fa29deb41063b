//! A command and everything it starts, as one group that can be ended at once.
//!
//! The only file here that asks which system this is. On Unix the command leads a process group; its
//! end is noticed without taking its status, so that its number cannot be given to another process
//! before the rest of the group is ended. Elsewhere only the command itself is ended.

use std::process::{Child, Command, ExitStatus};

/// A running command. Dropped, it is ended.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    ended: bool,
}

impl Group {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { child: command.spawn()?, ended: false })
    }

    /// The command itself, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the command still runs; if not, others of its group may.
    pub(crate) fn runs(&mut self) -> bool {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), look), Ok(None))
        }
        #[cfg(not(unix))]
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends whatever of the group still runs, and gives the command's status.
    pub(crate) fn end(&mut self) -> std::io::Result<ExitStatus> {
        if !self.ended {
            self.ended = true;
            self.kill();
        }
        self.child.wait()
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Fails when nobody of the group is left, which is what is wanted.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
