//! Deadlines of a hook for its payload, the daemon, locks and disks.
//!
//! Only time actually spent waiting counts. A hook that was suspended or starved of CPU must check again
//! before it gives up, because the result may have arrived long ago. So every wait is cut into short
//! slices, and the time between two clock readings counts only up to `COUNTED_GAP_MAX`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum length of a single wait.
const WAIT_SLICE: Duration = Duration::from_millis(5);
/// A longer gap between two clock readings means that the process did not run.
const COUNTED_GAP_MAX: Duration = Duration::from_millis(15);

/// Deadlines of each step, in time waited since the start of `main`.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// The payload is complete.
    pub read: Duration,
    /// The project of the working directory is found.
    pub located: Duration,
    /// The daemon has answered.
    pub answered: Duration,
    /// The event is stored by the daemon or synced to the spool.
    pub recorded: Duration,
    /// The injection has arrived.
    pub injected: Duration,
    /// The injection at the start of a session has arrived.
    pub injected_at_start: Duration,
    /// The hook returns to its agent, unless no other process can take over.
    pub returned: Duration,
    /// The hook gives up and records the event as lost.
    pub given_up: Duration,
}

impl Deadlines {
    /// Multiplies all deadlines, for slow machines.
    pub fn scaled(self, patience: u32) -> Self {
        Self {
            read: self.read * patience,
            located: self.located * patience,
            answered: self.answered * patience,
            recorded: self.recorded * patience,
            injected: self.injected * patience,
            injected_at_start: self.injected_at_start * patience,
            returned: self.returned * patience,
            given_up: self.given_up * patience,
        }
    }
}

/// While the agent waits. The rest of the promised 100 ms is for starting and ending the process, and
/// for handing unfinished work to another process.
pub const FOREGROUND_DEADLINES: Deadlines = Deadlines {
    read: Duration::from_millis(35),
    located: Duration::from_millis(45),
    answered: Duration::from_millis(55),
    recorded: Duration::from_millis(80),
    injected: Duration::from_millis(85),
    injected_at_start: Duration::from_millis(270),
    returned: Duration::from_millis(92),
    given_up: Duration::from_millis(250),
};

/// For a session start, if the command line names the event: reading the payload may take longer, because
/// nothing can be injected without it.
pub const START_DEADLINES: Deadlines = Deadlines {
    read: Duration::from_millis(180),
    located: Duration::from_millis(200),
    answered: Duration::from_millis(215),
    recorded: Duration::from_millis(240),
    injected: Duration::from_millis(270),
    injected_at_start: Duration::from_millis(270),
    returned: Duration::from_millis(285),
    given_up: Duration::from_millis(400),
};

/// For the process that continues a hook after the agent has stopped waiting.
pub const BACKGROUND_DEADLINES: Deadlines = Deadlines {
    read: Duration::from_secs(10),
    located: Duration::from_secs(15),
    answered: Duration::from_secs(20),
    recorded: Duration::from_secs(60),
    injected: Duration::from_secs(60),
    injected_at_start: Duration::from_secs(60),
    returned: Duration::from_secs(60),
    given_up: Duration::from_secs(60),
};

/// Whether an event name from the command line is a session start.
pub fn is_start_event(event: &str) -> bool {
    matches!(event, "SessionStart" | "sessionStart" | "session.created" | "session.resumed")
}

/// Measures the time that a hook has spent waiting.
#[derive(Debug)]
pub struct WaitClock {
    started: Instant,
    last_reading_us: AtomicU64,
    uncounted_us: AtomicU64,
}

impl WaitClock {
    pub fn since(started: Instant) -> Self {
        Self { started, last_reading_us: AtomicU64::new(0), uncounted_us: AtomicU64::new(0) }
    }

    /// Returns the time spent waiting so far.
    pub fn waited(&self) -> Duration {
        let now = to_micros(self.started.elapsed());
        let before = self.last_reading_us.fetch_max(now, Ordering::SeqCst);
        let gap = now.saturating_sub(before).saturating_sub(to_micros(COUNTED_GAP_MAX));
        let uncounted = self.uncounted_us.fetch_add(gap, Ordering::SeqCst) + gap;
        Duration::from_micros(now.saturating_sub(uncounted))
    }

    /// Returns the time left until the deadline.
    pub fn time_left(&self, until: Duration) -> Duration {
        until.saturating_sub(self.waited())
    }

    /// Returns the length of the next wait; `None` once the deadline has passed.
    pub fn next_slice(&self, until: Duration) -> Option<Duration> {
        Some(self.time_left(until).min(WAIT_SLICE)).filter(|slice| !slice.is_zero())
    }

    /// Awaits a future; `None` if the deadline passes first.
    pub async fn wait_for<T>(&self, until: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        loop {
            let slice = self.next_slice(until)?;
            if let Ok(done) = tokio::time::timeout(slice, &mut work).await {
                return Some(done);
            }
        }
    }

    /// Waits for a message; `None` if the deadline passes first or the sender is gone.
    pub fn receive<T>(&self, until: Duration, from: &std::sync::mpsc::Receiver<T>) -> Option<T> {
        use std::sync::mpsc::RecvTimeoutError;
        loop {
            let slice = self.next_slice(until);
            match from.recv_timeout(slice.unwrap_or_default()) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) if slice.is_some() => {}
                Err(_) => return None,
            }
        }
    }
}

fn to_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_cpu_does_not_count_as_waiting() {
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3)).unwrap();
        let clock = WaitClock::since(long_ago);
        assert!(clock.waited() < Duration::from_secs(1), "{:?}", clock.waited());
        assert!(clock.next_slice(Duration::from_secs(1)).is_some());
    }

    #[test]
    fn receive_times_out() {
        let clock = WaitClock::since(Instant::now());
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        assert!(clock.receive(Duration::from_millis(12), &receiver).is_none());
        assert!(clock.next_slice(Duration::from_millis(12)).is_none());
    }
}
