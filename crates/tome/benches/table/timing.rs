//! Timings and their percentiles.

use std::time::Duration;

#[derive(Default)]
pub struct Timings(Vec<Duration>);

impl Timings {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Returns the time, in milliseconds, that this percentage of the measurements does not exceed.
    pub fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1).min(last);
        sorted.get(at).map_or(f64::NAN, |time| ms(*time))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the count per second.
pub fn rate(count: u64, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]
    let count = count as f64;
    count / time.as_secs_f64()
}
