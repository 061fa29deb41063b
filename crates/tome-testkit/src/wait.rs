//! Waiting for a condition, never for a guess.

use std::time::{Duration, Instant};

/// Long enough for a busy machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Looks again and again until there is something to see.
///
/// # Panics
/// When there is still nothing after 20 seconds.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    let seen = eventually_within(PATIENCE, look);
    assert!(seen.is_some(), "still waiting for this: {what}");
    #[expect(clippy::expect_used, reason = "asserted in the line above")]
    seen.expect("something to see")
}

/// Looks again and again until there is something to see, for this long at most.
pub fn eventually_within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(seen) = look() {
            return Some(seen);
        }
        if Instant::now() >= deadline {
            return None;
        }
        pause(Duration::from_millis(10));
    }
}

/// Lets time pass: between two looks, or between two blows of a crash test.
#[expect(
    clippy::disallowed_methods,
    reason = "the one sleep: every caller looks at a condition or deals blows at random moments"
)]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}
