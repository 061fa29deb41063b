//! Waits for conditions instead of sleeping for a fixed time.

use std::time::{Duration, Instant};

/// Enough for a busy machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two polls.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// Polls until `poll` returns a value.
///
/// # Panics
/// After 20 seconds.
pub fn eventually<T>(what: &str, poll: impl FnMut() -> Option<T>) -> T {
    let found = eventually_within(PATIENCE, poll);
    assert!(found.is_some(), "timed out waiting for {what}");
    #[expect(clippy::expect_used, reason = "asserted in the line above")]
    found.expect("a value")
}

/// Polls until `poll` returns a value, at most for `patience`.
pub fn eventually_within<T>(patience: Duration, mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        let begun = Instant::now();
        if let Some(found) = poll() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        // Many polls start a program, which must not take the processor from what is waited for.
        pause((2 * begun.elapsed()).clamp(PAUSE_MIN, PAUSE_MAX));
    }
}

/// Sleeps: between two polls, or between two signals of a crash test.
#[expect(
    clippy::disallowed_methods,
    reason = "the only sleep: callers poll a condition or send signals at random moments"
)]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}
