//! The results of a crash test.

use std::fmt;
use std::time::Duration;

/// Violations that are printed; the rest are only counted.
const SHOWN_MAX: usize = 20;

/// The results of a crash test.
#[derive(Debug, Clone, Default)]
pub struct CrashTestReport {
    /// Completed rounds.
    pub rounds: u32,
    /// SIGKILLs sent to the daemon.
    pub kills: u64,
    /// SIGSTOPs sent to the daemon.
    pub hangs: u64,
    /// Events acknowledged to a client.
    pub acknowledged: u64,
    /// Deliveries of hooks that ended normally.
    pub hooked: u64,
    /// Hooks that were suspended for a while.
    pub hooks_suspended: u64,
    /// Hooks that were killed: their deliveries may be missing but not duplicated.
    pub hooks_killed: u64,
    /// Deliveries of hooks that are stored.
    pub stored: u64,
    /// Deliveries of hooks that are missing and were recorded as lost.
    pub counted_lost: u64,
    /// Events in the ledger at the end.
    pub events: u64,
    /// Acknowledged events that are missing.
    pub lost: u64,
    /// Events that are stored more than once.
    pub duplicates: u64,
    /// Events that differ from what was sent.
    pub torn: u64,
    /// Duration of the slowest hook.
    pub hook_slowest: Duration,
    /// Time of each start until the daemon answered.
    pub recoveries: Vec<Duration>,
    /// Violations and how often each occurred.
    pub violations: Vec<(String, u64)>,
}

impl CrashTestReport {
    pub(crate) fn record_violation(&mut self, what: String) {
        match self.violations.iter_mut().find(|(known, _)| *known == what) {
            Some((_, times)) => *times += 1,
            None => self.violations.push((what, 1)),
        }
    }

    fn recovery_times(&self) -> (Duration, Duration) {
        let mut sorted = self.recoveries.clone();
        sorted.sort();
        let middle = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        (middle, sorted.last().copied().unwrap_or_default())
    }
}

impl fmt::Display for CrashTestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (middle, slowest) = self.recovery_times();
        writeln!(f, "rounds            {:>10}", self.rounds)?;
        writeln!(f, "kills             {:>10}", self.kills)?;
        writeln!(f, "hangs             {:>10}", self.hangs)?;
        writeln!(f, "acknowledged      {:>10}", self.acknowledged)?;
        writeln!(f, "hooks             {:>10}", self.hooked + self.hooks_killed)?;
        writeln!(f, "  suspended       {:>10}", self.hooks_suspended)?;
        writeln!(f, "  killed          {:>10}", self.hooks_killed)?;
        writeln!(f, "  delivered       {:>10}", self.hooked)?;
        writeln!(f, "  stored          {:>10}", self.stored)?;
        writeln!(f, "in the ledger     {:>10}", self.events)?;
        writeln!(f, "lost              {:>10}", self.lost)?;
        writeln!(f, "duplicates        {:>10}", self.duplicates)?;
        writeln!(f, "torn              {:>10}", self.torn)?;
        writeln!(f, "recorded as lost  {:>10}", self.counted_lost)?;
        writeln!(f, "slowest hook      {:>7} ms", self.hook_slowest.as_millis())?;
        writeln!(
            f,
            "recovery          {:>7} ms median, {} ms at worst, {} starts",
            middle.as_millis(),
            slowest.as_millis(),
            self.recoveries.len()
        )?;
        for (violation, times) in self.violations.iter().take(SHOWN_MAX) {
            writeln!(f, "VIOLATION         {times} x {violation}")?;
        }
        let more = self.violations.len().saturating_sub(SHOWN_MAX);
        if more > 0 {
            writeln!(f, "                  and {more} more")?;
        }
        Ok(())
    }
}
