//! Signals to processes that a test has started, and whether they are alive. A platform without
//! signals sends none.

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ends it at once, like a crash.
    Kill,
    /// Asks it to end.
    Term,
    /// Suspends it.
    Stop,
    /// Resumes it.
    Continue,
}

/// Sends a signal; returns whether the process existed. After `Stop` the process is suspended when
/// this returns.
pub fn send_signal(pid: u32, signal: Signal) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal as Native, kill_process};
        let native = match signal {
            Signal::Kill => Native::KILL,
            Signal::Term => Native::TERM,
            Signal::Stop => Native::STOP,
            Signal::Continue => Native::CONT,
        };
        let target = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let is_sent = target.is_some_and(|target| kill_process(target, native).is_ok());
        if is_sent && signal == Signal::Stop {
            // On a busy machine a thread may run on for a moment.
            let _ = crate::eventually_within(HANGS_WITHIN, || is_suspended(pid).then_some(()));
        }
        is_sent
    }
    #[cfg(not(unix))]
    {
        let _ = (pid, signal);
        false
    }
}

/// Time for a stopped process to be suspended.
#[cfg(unix)]
const HANGS_WITHIN: std::time::Duration = std::time::Duration::from_secs(5);

/// Whether all threads of a process are suspended; known on Linux only.
#[cfg(unix)]
fn is_suspended(pid: u32) -> bool {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    tasks.flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        state.is_empty() || state.starts_with(['T', 't', 'Z', 'X'])
    })
}

/// Whether a process is running. A zombie is not.
pub fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let native = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if native.is_none_or(|pid| test_kill_process(pid).is_err()) {
            return false;
        }
        // `pid (name) state …` on Linux; elsewhere init reaps orphans at once.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        !state.starts_with(['Z', 'X'])
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}
