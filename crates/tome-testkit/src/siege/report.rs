//! What a crash test found.

use std::fmt;
use std::time::Duration;

/// Violations written out; the rest is counted.
const SHOWN_MAX: usize = 20;

/// What a crash test found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Rounds done.
    pub rounds: u32,
    /// SIGKILLs dealt.
    pub kills: u64,
    /// SIGSTOPs dealt.
    pub hangs: u64,
    /// Events that were acknowledged to a client.
    pub acknowledged: u64,
    /// Deliveries of hooks that ended as they should.
    pub hooked: u64,
    /// Hooks that were stopped for a while.
    pub hooks_suspended: u64,
    /// Hooks that were killed: nobody accounts for their deliveries, and none may be there twice.
    pub hooks_killed: u64,
    /// Deliveries of hooks that are stored.
    pub stored: u64,
    /// Deliveries of hooks that are not there and were recorded as lost, as promised.
    pub counted_lost: u64,
    /// Events in the ledger at the end.
    pub events: u64,
    /// Acknowledged and not there.
    pub lost: u64,
    /// There more than once.
    pub duplicates: u64,
    /// There and not as sent.
    pub torn: u64,
    /// The slowest hook.
    pub hook_slowest: Duration,
    /// How long each start took until the daemon answered.
    pub recoveries: Vec<Duration>,
    /// What went wrong, in words, and how often.
    pub violations: Vec<(String, u64)>,
}

impl Report {
    /// Notes something that must not happen.
    pub(crate) fn violation(&mut self, what: String) {
        match self.violations.iter_mut().find(|(known, _)| *known == what) {
            Some((_, times)) => *times += 1,
            None => self.violations.push((what, 1)),
        }
    }

    fn recovery(&self) -> (Duration, Duration) {
        let mut sorted = self.recoveries.clone();
        sorted.sort();
        let middle = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        (middle, sorted.last().copied().unwrap_or_default())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (middle, slowest) = self.recovery();
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
            "recovery          {:>7} ms in the middle, {} ms at worst, {} starts",
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
