//! A timeout for file system calls that may never return: a network mount whose server is gone
//! blocks the calling thread, and no signal interrupts it.
//!
//! The call runs on another thread. On timeout that thread is abandoned, and until it returns, no
//! other call for the same path is started. Threads whose call returned are reused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::time::Duration;

/// Limit of abandoned threads. Each holds a stack until the kernel returns.
const ABANDONED_MAX: usize = 32;

const IDLE_MAX: usize = 2;

type TimedJob = Box<dyn FnOnce() + Send>;
/// Idle threads, by their channels.
type IdleThreads = Mutex<Vec<mpsc::Sender<QueuedJob>>>;

/// A job, with the sender of the thread that runs it: the thread returns it to the idle list.
struct QueuedJob {
    job: TimedJob,
    channel: mpsc::Sender<QueuedJob>,
}

/// Runs calls with a timeout and tracks those that hang.
#[derive(Debug, Default)]
pub struct TimedCalls {
    hanging: Arc<Mutex<HangingCalls>>,
    idle: Arc<IdleThreads>,
}

#[derive(Debug, Default)]
struct HangingCalls {
    next: u64,
    /// The paths of abandoned calls, by the number of the call.
    paths: HashMap<u64, String>,
}

impl TimedCalls {
    /// Runs `call`, which accesses `path`. Returns `None` on timeout, if an earlier call for the
    /// same path still hangs, or if too many calls hang already.
    pub fn run<T: Send + 'static>(
        &self,
        path: &str,
        timeout: Duration,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let number = {
            let mut hanging = lock(&self.hanging);
            let is_hopeless = hanging.paths.values().any(|hangs| hangs == path);
            if is_hopeless || hanging.paths.len() >= ABANDONED_MAX {
                return None;
            }
            hanging.next += 1;
            hanging.next
        };
        let (sender, receiver) = mpsc::channel();
        let hanging_calls = Arc::clone(&self.hanging);
        self.dispatch(Box::new(move || {
            let result = call();
            // Under the lock, so that a caller that times out at this moment either receives the
            // result or registers the call before it is removed here.
            let mut hanging = lock(&hanging_calls);
            hanging.paths.remove(&number);
            let _ = sender.send(result);
        }))?;
        match receiver.recv_timeout(timeout) {
            Ok(result) => Some(result),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let mut hanging = lock(&self.hanging);
                match receiver.try_recv() {
                    Ok(result) => Some(result),
                    // The call panicked just now.
                    Err(mpsc::TryRecvError::Disconnected) => None,
                    Err(mpsc::TryRecvError::Empty) => {
                        hanging.paths.insert(number, path.to_owned());
                        None
                    }
                }
            }
        }
    }
}

impl TimedCalls {
    /// Runs a job on an idle thread or a new one. `None` if no thread can be started.
    fn dispatch(&self, job: TimedJob) -> Option<()> {
        let waiting = lock(&self.idle).pop();
        let Some(channel) = waiting else { return self.spawn_thread(job) };
        match channel.send(QueuedJob { job, channel: channel.clone() }) {
            Ok(()) => Some(()),
            // That thread has ended.
            Err(mpsc::SendError(work)) => self.spawn_thread(work.job),
        }
    }

    fn spawn_thread(&self, job: TimedJob) -> Option<()> {
        let (channel, queue) = mpsc::channel();
        channel.send(QueuedJob { job, channel: channel.clone() }).ok()?;
        let idle = Arc::downgrade(&self.idle);
        let thread = std::thread::Builder::new().name("tome-fs".to_owned());
        thread.spawn(move || run_jobs(&queue, &idle)).ok().map(drop)
    }
}

/// Runs jobs until the channel closes or enough other threads are idle.
fn run_jobs(queue: &mpsc::Receiver<QueuedJob>, idle: &Weak<IdleThreads>) {
    while let Ok(QueuedJob { job, channel }) = queue.recv() {
        job();
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = lock(&idle);
        if idle.len() >= IDLE_MAX {
            return;
        }
        idle.push(channel);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough for a runnable thread, even on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_call_that_hangs_delays_only_its_own_path_and_only_once() {
        let calls = TimedCalls::default();
        let (release, blocked) = mpsc::channel::<()>();
        let (returned, gone) = mpsc::channel::<()>();
        let hangs = move || {
            let _ = blocked.recv();
            let _ = returned.send(());
        };
        assert_eq!(calls.run("/gone", Duration::from_millis(1), hangs), None);
        assert_eq!(calls.run("/gone", LONG, || 1), None, "not tried while the first one hangs");
        assert_eq!(calls.run("/there", LONG, || 2), Some(2));
        release.send(()).unwrap();
        gone.recv().unwrap();
        // The thread still has to deregister the call.
        let again = (0..).find_map(|n| {
            std::thread::yield_now();
            calls.run("/gone", LONG, move || n)
        });
        assert!(again.is_some());
    }

    #[test]
    fn the_number_of_hanging_calls_is_limited() {
        let calls = TimedCalls::default();
        let (release, blocked) = mpsc::channel::<()>();
        let blocked = Arc::new(Mutex::new(blocked));
        for n in 0..2 * ABANDONED_MAX {
            let blocked = Arc::clone(&blocked);
            let hangs = move || drop(blocked.lock().map(|blocked| blocked.recv()));
            assert_eq!(calls.run(&n.to_string(), Duration::from_millis(1), hangs), None);
        }
        assert_eq!(lock(&calls.hanging).paths.len(), ABANDONED_MAX);
        drop(release);
    }
}
