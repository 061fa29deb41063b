//! How long a hook may wait for others: its agent's payload, the daemon, a lock, a disk.
//!
//! Only waiting counts. A hook that was stopped, suspended or starved of a processor has waited for
//! nobody, and what it waited for may long be there: on waking up it looks again before it gives up.
//! Hence every wait is cut into short slices, and the time between two looks at the clock counts only
//! as far as a slice can have taken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest wait between two looks.
const SLICE: Duration = Duration::from_millis(5);
/// More than this between two looks is not waiting: the process did not run.
const COUNTED_MAX: Duration = Duration::from_millis(15);

/// By when each step has to be done, in time waited since the first instruction of `main`.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// The payload is there.
    pub read: Duration,
    /// The daemon has answered.
    pub answered: Duration,
    /// The daemon has it, or the spool is synced.
    pub recorded: Duration,
    /// What is to be said to the agent is there.
    pub said: Duration,
    /// The same at the start of a session, which may take longer.
    pub said_at_start: Duration,
    /// The hook returns to its agent, unless nobody else can take the event over.
    pub returned: Duration,
    /// The hook gives the event up.
    pub given_up: Duration,
}

impl Deadlines {
    /// With so many times the patience: some machines are slow, and somebody may say so.
    pub fn times(self, patience: u32) -> Self {
        Self {
            read: self.read * patience,
            answered: self.answered * patience,
            recorded: self.recorded * patience,
            said: self.said * patience,
            said_at_start: self.said_at_start * patience,
            returned: self.returned * patience,
            given_up: self.given_up * patience,
        }
    }
}

/// While the agent waits. What is left of the promised hundred milliseconds is for starting and ending
/// the process, and for handing on what could not be done by then.
pub const PROMPT: Deadlines = Deadlines {
    read: Duration::from_millis(35),
    answered: Duration::from_millis(55),
    recorded: Duration::from_millis(80),
    said: Duration::from_millis(85),
    said_at_start: Duration::from_millis(270),
    returned: Duration::from_millis(92),
    given_up: Duration::from_millis(250),
};

/// The same where the command line says that a session starts: the payload may take as long as a start
/// may, because without it there is nothing to tell the agent.
pub const START: Deadlines = Deadlines {
    read: Duration::from_millis(180),
    answered: Duration::from_millis(215),
    recorded: Duration::from_millis(240),
    said: Duration::from_millis(270),
    said_at_start: Duration::from_millis(270),
    returned: Duration::from_millis(285),
    given_up: Duration::from_millis(400),
};

/// For the process that goes on with a hook whose agent is no longer waiting.
pub const LATE: Deadlines = Deadlines {
    read: Duration::from_secs(10),
    answered: Duration::from_secs(20),
    recorded: Duration::from_secs(60),
    said: Duration::from_secs(60),
    said_at_start: Duration::from_secs(60),
    returned: Duration::from_secs(60),
    given_up: Duration::from_secs(60),
};

/// Whether an event of this name, as a command line gives it, is the start of a session.
pub fn is_start(event: &str) -> bool {
    matches!(event, "SessionStart" | "sessionStart" | "session.created" | "session.resumed")
}

/// The time that a hook has waited.
#[derive(Debug)]
pub struct Waited {
    started: Instant,
    looked_us: AtomicU64,
    uncounted_us: AtomicU64,
}

impl Waited {
    /// Counts from this moment on.
    pub fn since(started: Instant) -> Self {
        Self { started, looked_us: AtomicU64::new(0), uncounted_us: AtomicU64::new(0) }
    }

    /// The time that counts as waited.
    pub fn elapsed(&self) -> Duration {
        let now = micros(self.started.elapsed());
        let before = self.looked_us.fetch_max(now, Ordering::SeqCst);
        let gap = now.saturating_sub(before).saturating_sub(micros(COUNTED_MAX));
        let uncounted = self.uncounted_us.fetch_add(gap, Ordering::SeqCst) + gap;
        Duration::from_micros(now.saturating_sub(uncounted))
    }

    /// What is left until then.
    pub fn left(&self, until: Duration) -> Duration {
        until.saturating_sub(self.elapsed())
    }

    /// How long to wait until the next look; `None` once the time is up.
    pub fn slice(&self, until: Duration) -> Option<Duration> {
        Some(self.left(until).min(SLICE)).filter(|slice| !slice.is_zero())
    }

    /// Waits for something to be done; `None` when the time is up.
    pub async fn within<T>(&self, until: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        loop {
            let slice = self.slice(until)?;
            if let Ok(done) = tokio::time::timeout(slice, &mut work).await {
                return Some(done);
            }
        }
    }

    /// Waits for a message; `None` when the time is up or nobody can send one any more.
    pub fn receive<T>(&self, until: Duration, from: &std::sync::mpsc::Receiver<T>) -> Option<T> {
        use std::sync::mpsc::RecvTimeoutError;
        loop {
            let slice = self.slice(until);
            match from.recv_timeout(slice.unwrap_or_default()) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) if slice.is_some() => {}
                Err(_) => return None,
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_processor_is_not_waited() {
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3)).unwrap();
        let waited = Waited::since(long_ago);
        assert!(waited.elapsed() < Duration::from_secs(1), "{:?}", waited.elapsed());
        assert!(waited.slice(Duration::from_secs(1)).is_some());
    }

    #[test]
    fn waiting_ends() {
        let waited = Waited::since(Instant::now());
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        assert!(waited.receive(Duration::from_millis(12), &receiver).is_none());
        assert!(waited.slice(Duration::from_millis(12)).is_none());
    }
}
