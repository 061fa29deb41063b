//! What models cost in a day, and the most they may cost.
//!
//! A call reserves what it may cost before it is made and is settled afterwards, so that calls made
//! side by side cannot spend the same tokens. One that is never settled, because whoever made it was
//! killed, is let go after half an hour and counted with what it was to read. The state is JSON that
//! the caller keeps:
//!
//! `{"day":"2026-11-15","calls":4,"failures":1,"input_tokens":5210,"output_tokens":803,"last_failure":null}`

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::limits::RESERVED_MAX;
use crate::{Budget, ModelFailure, Needed, Reserved, Spent};

/// Counts the tokens of a day and refuses what would go over the budget.
#[derive(Debug)]
pub struct Meter {
    daily_tokens_max: Option<u64>,
    reserved_max: Duration,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    state: MeterState,
    /// What calls under way may still cost, by the number of the reservation.
    under_way: BTreeMap<u64, UnderWay>,
    reservations: u64,
}

#[derive(Debug)]
struct UnderWay {
    needed: Needed,
    since: Instant,
    /// Nobody came back for it in time: it is counted, and no longer set aside.
    is_let_go: bool,
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

impl MeterState {
    /// Input and output together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Meter {
    /// Goes on from a state; no `daily_tokens_max`: counts and refuses nothing.
    pub fn new(daily_tokens_max: Option<u64>, state: MeterState) -> Self {
        let counted = Counted { state, under_way: BTreeMap::new(), reservations: 0 };
        Self { daily_tokens_max, reserved_max: RESERVED_MAX, counted: Mutex::new(counted) }
    }

    /// Lets go of what was set aside and not settled for so long, instead of half an hour.
    #[must_use]
    pub fn letting_go_after(mut self, time: Duration) -> Self {
        self.reserved_max = time;
        self
    }

    /// What was used on `day`, and what is left of it.
    pub fn reading(&self, day: &str) -> MeterReading {
        let counted = self.on(day);
        let used = counted.spoken_for();
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

    /// The count of this day: another day starts at nothing. What nobody came back for is let go.
    fn on(&self, day: &str) -> MutexGuard<'_, Counted> {
        let mut counted = self.lock();
        if counted.state.day != day {
            counted.state = MeterState { day: day.to_owned(), ..MeterState::default() };
            counted.under_way.retain(|_, one| !one.is_let_go);
        }
        counted.let_go(self.reserved_max);
        counted
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Budget for Meter {
    fn reserve(&self, day: &str, needed: Needed) -> Result<Reserved, ModelFailure> {
        let mut counted = self.on(day);
        let spent = counted.spoken_for();
        if let Some(budget) = self.daily_tokens_max
            && spent.saturating_add(needed.tokens()) > budget
        {
            return Err(ModelFailure::OverBudget { spent, budget, needed: needed.tokens() });
        }
        counted.reservations += 1;
        let id = counted.reservations;
        let one = UnderWay { needed, since: Instant::now(), is_let_go: false };
        counted.under_way.insert(id, one);
        Ok(Reserved { id, needed })
    }

    fn settle(&self, day: &str, reserved: &Reserved, spent: &Spent) {
        let mut counted = self.on(day);
        // A number of a meter before a restart may be another's here.
        let is_its_own =
            counted.under_way.get(&reserved.id).is_some_and(|one| one.needed == reserved.needed);
        let known = if is_its_own { counted.under_way.remove(&reserved.id) } else { None };
        let input = match known {
            // Already counted with what it was to read: what is more comes on top.
            Some(one) if one.is_let_go => {
                let state = &mut counted.state;
                state.calls = state.calls.saturating_sub(1);
                state.failures = state.failures.saturating_sub(1);
                spent.input_tokens.saturating_sub(one.needed.input_tokens)
            }
            _ => spent.input_tokens,
        };
        counted.count(input, spent.output_tokens, spent.failure.clone());
    }
}

impl Counted {
    /// Used, and set aside.
    fn spoken_for(&self) -> u64 {
        let under_way = self.under_way.values().filter(|one| !one.is_let_go);
        under_way.map(|one| one.needed.tokens()).fold(self.state.tokens(), u64::saturating_add)
    }

    fn let_go(&mut self, after: Duration) {
        let over = self.under_way.values_mut();
        let over = over.filter(|one| !one.is_let_go && one.since.elapsed() >= after);
        let inputs: Vec<u64> = over
            .map(|one| {
                one.is_let_go = true;
                one.needed.input_tokens
            })
            .collect();
        for input in inputs {
            self.count(input, 0, Some("nobody said what became of the call".to_owned()));
        }
    }

    fn count(&mut self, input: u64, output: u64, failure: Option<String>) {
        let state = &mut self.state;
        state.calls = state.calls.saturating_add(1);
        state.input_tokens = state.input_tokens.saturating_add(input);
        state.output_tokens = state.output_tokens.saturating_add(output);
        if failure.is_some() {
            state.failures = state.failures.saturating_add(1);
            state.last_failure = failure;
        }
    }
}
