//! The reminder to update the session's overview: rare for an agent that updates it unprompted,
//! more frequent for one that does so only when reminded.
//!
//! | write | share of unprompted writes | change of the interval, in rounds |
//! | --- | --- | --- |
//! | unprompted | over 0.7 / over 0.4 / less | + 3 / + 2 / + 1 |
//! | after a reminder | over 0.6 / over 0.3 / less | − 1 / − 2 / − 3 |
//!
//! A round is a turn, a prompt and everything up to the next; a long turn counts as another round after
//! every `LONG_TURN_TOOL_CALLS` tool calls. The round of a write does not count as one without.

use serde::{Deserialize, Serialize};

use super::TriggerSettings;
use super::limits::{LONG_TURN_TOOL_CALLS, ROUNDS_MIN, ROUNDS_SILENT, WRITES_MIN};

/// The reminder interval of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReminderPace {
    /// Rounds between reminders; the setting applies until it has adapted.
    every: Option<u32>,
    /// Whether a round without a write is in progress.
    in_round: bool,
    tool_calls: u32,
    rounds_since_start: u32,
    rounds_since_write: u32,
    rounds_since_reminder: u32,
    /// Whether there was a reminder since the last write.
    reminded: bool,
    /// Whether there was one before the latest.
    reminded_before: bool,
    writes: u32,
    #[serde(alias = "writes_unasked")]
    writes_unprompted: u32,
}

impl ReminderPace {
    /// Ends a round and begins the next.
    pub(super) fn on_prompt(&mut self) {
        if self.in_round {
            self.count_round();
        }
        self.in_round = true;
        self.tool_calls = 0;
    }

    pub(super) fn on_tool_call(&mut self) {
        self.tool_calls = self.tool_calls.saturating_add(1);
        if self.tool_calls >= LONG_TURN_TOOL_CALLS {
            self.tool_calls = 0;
            self.count_round();
        }
    }

    fn count_round(&mut self) {
        for rounds in [
            &mut self.rounds_since_start,
            &mut self.rounds_since_write,
            &mut self.rounds_since_reminder,
        ] {
            *rounds = rounds.saturating_add(1);
        }
    }

    /// Records a write and adapts the interval.
    pub(super) fn record_write(&mut self, settings: &TriggerSettings) {
        self.writes = self.writes.saturating_add(1);
        if !self.reminded {
            self.writes_unprompted = self.writes_unprompted.saturating_add(1);
        }
        if self.writes >= WRITES_MIN {
            let every = self.interval(settings).saturating_add_signed(self.interval_change());
            self.every = Some(clamp_interval(every, settings));
        }
        self.reminded = false;
        self.reminded_before = false;
        self.in_round = false;
        self.tool_calls = 0;
        self.rounds_since_write = 0;
        self.rounds_since_reminder = 0;
    }

    fn interval_change(&self) -> i32 {
        // Integer tenths: with floats a share of exactly 0.7 could fall on either side.
        let (unprompted, writes) = (u64::from(self.writes_unprompted) * 10, u64::from(self.writes));
        let over = |tenths: u64| unprompted > writes * tenths;
        match (self.reminded, over(7), over(6), over(4), over(3)) {
            (false, true, ..) => 3,
            (false, _, _, true, _) => 2,
            (false, ..) => 1,
            (true, _, true, ..) => -1,
            (true, _, _, _, true) => -2,
            (true, ..) => -3,
        }
    }

    fn interval(&self, settings: &TriggerSettings) -> u32 {
        clamp_interval(self.every.unwrap_or(settings.overview_rounds), settings)
    }

    /// Returns the rounds without a write if a reminder is due, and records the reminder.
    pub(super) fn take_due(&mut self, settings: &TriggerSettings) -> Option<u32> {
        let silent = self.writes > 0 && self.rounds_since_write < ROUNDS_SILENT;
        let early = self.rounds_since_start < ROUNDS_MIN;
        let quiet = self.rounds_since_reminder < self.interval(settings);
        if !settings.overview || silent || early || quiet {
            return None;
        }
        self.reminded_before = self.reminded;
        self.reminded = true;
        self.rounds_since_reminder = 0;
        Some(self.rounds_since_write)
    }

    /// Undoes a reminder that did not reach the agent: the next event that accepts text gets it,
    /// and a write before that counts as unprompted.
    pub(super) fn mark_missed(&mut self, settings: &TriggerSettings) {
        self.reminded = self.reminded_before;
        self.rounds_since_reminder = self.interval(settings);
    }
}

/// Settings may contradict each other; the lower bound wins.
fn clamp_interval(rounds: u32, settings: &TriggerSettings) -> u32 {
    rounds.min(settings.overview_rounds_max).max(settings.overview_rounds_min)
}
