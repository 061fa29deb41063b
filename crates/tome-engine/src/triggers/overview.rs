//! The reminder of the session's overview: it comes rarely to an agent that writes the overview of
//! its own accord, and more often to one that writes it only when reminded.
//!
//! | write | share of writes of its own accord | rounds until the next reminder |
//! | --- | --- | --- |
//! | of its own accord | over 0.7 / over 0.4 / less | + 3 / + 2 / + 1 |
//! | after a reminder | over 0.6 / over 0.3 / less | − 1 / − 2 / − 3 |
//!
//! A round is a prompt and what follows it; in a long loop, also every `ROUND_TOOL_CALLS` tool
//! calls. The round of a write does not count as one without.

use serde::{Deserialize, Serialize};

use super::Settings;
use super::limits::{ROUND_TOOL_CALLS, ROUNDS_MIN, ROUNDS_SILENT, WRITES_MIN};

/// How often this session is reminded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Pace {
    /// Rounds between reminders; what the settings say as long as there is nothing to go by.
    every: Option<u32>,
    /// Whether a round is under way that has no write yet.
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
    writes_unasked: u32,
}

impl Pace {
    /// The person spoke: a round ends, another one begins.
    pub(super) fn prompt(&mut self) {
        if self.in_round {
            self.count_round();
        }
        self.in_round = true;
        self.tool_calls = 0;
    }

    pub(super) fn tool_call(&mut self) {
        self.tool_calls = self.tool_calls.saturating_add(1);
        if self.tool_calls >= ROUND_TOOL_CALLS {
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

    /// The overview was written.
    pub(super) fn written(&mut self, settings: &Settings) {
        self.writes = self.writes.saturating_add(1);
        if !self.reminded {
            self.writes_unasked = self.writes_unasked.saturating_add(1);
        }
        if self.writes >= WRITES_MIN {
            let every = self.every(settings).saturating_add_signed(self.change());
            self.every = Some(within(every, settings));
        }
        self.reminded = false;
        self.reminded_before = false;
        self.in_round = false;
        self.tool_calls = 0;
        self.rounds_since_write = 0;
        self.rounds_since_reminder = 0;
    }

    fn change(&self) -> i32 {
        // Tenths, in whole numbers: at a share of exactly 0.7 a float may say either.
        let (unasked, writes) = (u64::from(self.writes_unasked) * 10, u64::from(self.writes));
        let over = |tenths: u64| unasked > writes * tenths;
        match (self.reminded, over(7), over(6), over(4), over(3)) {
            (false, true, ..) => 3,
            (false, _, _, true, _) => 2,
            (false, ..) => 1,
            (true, _, true, ..) => -1,
            (true, _, _, _, true) => -2,
            (true, ..) => -3,
        }
    }

    fn every(&self, settings: &Settings) -> u32 {
        within(self.every.unwrap_or(settings.overview_rounds), settings)
    }

    /// The rounds without a write, if they are enough for a reminder; it is then taken as given.
    pub(super) fn due(&mut self, settings: &Settings) -> Option<u32> {
        let silent = self.writes > 0 && self.rounds_since_write < ROUNDS_SILENT;
        let early = self.rounds_since_start < ROUNDS_MIN;
        let quiet = self.rounds_since_reminder < self.every(settings);
        if !settings.overview || silent || early || quiet {
            return None;
        }
        self.reminded_before = self.reminded;
        self.reminded = true;
        self.rounds_since_reminder = 0;
        Some(self.rounds_since_write)
    }

    /// The latest reminder did not get there: the next event that takes one gets it, and a write
    /// until then is of the agent's own accord.
    pub(super) fn missed(&mut self, settings: &Settings) {
        self.reminded = self.reminded_before;
        self.rounds_since_reminder = self.every(settings);
    }
}

/// Settings may contradict each other; the lower bound then wins.
fn within(rounds: u32, settings: &Settings) -> u32 {
    rounds.min(settings.overview_rounds_max).max(settings.overview_rounds_min)
}
