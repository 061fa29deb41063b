//! What models cost in a day, and the most they may cost.
//!
//! A call reserves what it may cost before it is made and is settled afterwards, so that calls made
//! side by side cannot spend the same tokens. The state is JSON that the caller keeps:
//!
//! `{"day":"2026-11-15","calls":4,"failures":1,"input_tokens":5210,"output_tokens":803,"last_failure":null}`

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{Completion, ModelFailure};

/// Counts the tokens of a day and refuses what would go over the budget.
#[derive(Debug)]
pub struct Meter {
    daily_tokens_max: Option<u64>,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    state: MeterState,
    /// What calls under way may still cost.
    reserved: u64,
}

/// What was used on the last day that anything was; kept by the caller over restarts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeterState {
    /// Which day, as the caller names it: `2026-11-15`.
    pub day: String,
    /// How often a model was asked.
    pub calls: u64,
    /// How often that brought no answer.
    pub failures: u64,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// Why the last failure.
    pub last_failure: Option<String>,
}

/// What the meter shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeterReading {
    /// What was used today.
    #[serde(flatten)]
    pub today: MeterState,
    /// What a day may cost; none: no bound.
    pub daily_tokens_max: Option<u64>,
    /// How many tokens may still be used today; none: no bound.
    pub tokens_left: Option<u64>,
}

/// Tokens set aside for one call; settled once, by what became of it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reserved {
    input_tokens: u64,
    output_tokens_max: u64,
}

impl MeterState {
    /// Input and output together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Meter {
    /// Goes on from a state; no `daily_tokens_max`: counts and refuses nothing.
    pub fn new(daily_tokens_max: Option<u64>, state: MeterState) -> Self {
        Self { daily_tokens_max, counted: Mutex::new(Counted { state, reserved: 0 }) }
    }

    /// What was used on `day`, and what is left of it.
    pub fn reading(&self, day: &str) -> MeterReading {
        let counted = self.on(day);
        let used = counted.state.tokens().saturating_add(counted.reserved);
        MeterReading {
            today: counted.state.clone(),
            daily_tokens_max: self.daily_tokens_max,
            tokens_left: self.daily_tokens_max.map(|max| max.saturating_sub(used)),
        }
    }

    /// What the caller is to keep.
    pub fn state(&self) -> MeterState {
        self.lock().state.clone()
    }

    /// Sets aside what a call may cost, or refuses it.
    pub(crate) fn reserve(
        &self,
        day: &str,
        input_tokens: u64,
        output_tokens_max: u64,
    ) -> Result<Reserved, ModelFailure> {
        let mut counted = self.on(day);
        let needed = input_tokens.saturating_add(output_tokens_max);
        let spent = counted.state.tokens().saturating_add(counted.reserved);
        if let Some(budget) = self.daily_tokens_max
            && spent.saturating_add(needed) > budget
        {
            return Err(ModelFailure::OverBudget { spent, budget, needed });
        }
        counted.reserved = counted.reserved.saturating_add(needed);
        Ok(Reserved { input_tokens, output_tokens_max })
    }

    /// Counts what became of a call. A call that failed after the model may have worked is counted
    /// with what was set aside for it: rather too much than too little.
    pub(crate) fn settle(
        &self,
        day: &str,
        reserved: &Reserved,
        outcome: &Result<Completion, ModelFailure>,
    ) {
        let mut counted = self.on(day);
        let needed = reserved.input_tokens.saturating_add(reserved.output_tokens_max);
        counted.reserved = counted.reserved.saturating_sub(needed);
        let state = &mut counted.state;
        let (input, output) = match outcome {
            Ok(done) => (done.input_tokens, done.output_tokens),
            Err(ModelFailure::Truncated { .. }) => {
                (reserved.input_tokens, reserved.output_tokens_max)
            }
            Err(failure) if failure.may_have_cost() => (reserved.input_tokens, 0),
            Err(_) => (0, 0),
        };
        state.calls = state.calls.saturating_add(1);
        state.input_tokens = state.input_tokens.saturating_add(input);
        state.output_tokens = state.output_tokens.saturating_add(output);
        if let Err(failure) = outcome {
            state.failures = state.failures.saturating_add(1);
            state.last_failure = Some(failure.to_string());
        }
    }

    /// The count of this day: another day starts at nothing.
    fn on(&self, day: &str) -> MutexGuard<'_, Counted> {
        let mut counted = self.lock();
        if counted.state.day != day {
            counted.state = MeterState { day: day.to_owned(), ..MeterState::default() };
        }
        counted
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
