//! The token meter: counts tokens per day and enforces a daily limit.
//!
//! A call reserves its maximum cost before it is made and is settled afterwards, so that concurrent
//! calls cannot spend the same tokens. A reservation that is never settled, because its process was
//! killed, expires after half an hour and is counted with its estimated input. The caller persists the
//! state as JSON:
//!
//! `{"day":"2026-11-15","calls":4,"failures":1,"input_tokens":5210,"output_tokens":803,"last_failure":null}`

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::limits::RESERVED_MAX;
use crate::{Budget, ModelFailure, Needed, Reserved, Spent};

/// Counts the tokens of a day and rejects calls that would exceed the budget.
#[derive(Debug)]
pub struct Meter {
    daily_tokens_max: Option<u64>,
    reserved_max: Duration,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    state: MeterState,
    /// Unsettled reservations by id.
    under_way: BTreeMap<u64, UnderWay>,
    reservations: u64,
}

#[derive(Debug)]
struct UnderWay {
    needed: Needed,
    since: Instant,
    /// Not settled in time: already counted and no longer reserved.
    is_let_go: bool,
}

/// Usage on the last active day; persisted by the caller.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeterState {
    /// The day, in the caller's time zone: `2026-11-15`.
    pub day: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failures: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// The latest failure.
    pub last_failure: Option<String>,
}

/// A snapshot of the meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeterReading {
    /// Today's usage.
    #[serde(flatten)]
    pub today: MeterState,
    /// The daily limit; `None` means unlimited.
    pub daily_tokens_max: Option<u64>,
    /// Tokens left today; `None` means unlimited.
    pub tokens_left: Option<u64>,
}

impl MeterState {
    /// Input and output tokens together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Meter {
    /// Continues from a persisted state. Without `daily_tokens_max` it only counts.
    pub fn new(daily_tokens_max: Option<u64>, state: MeterState) -> Self {
        let counted = Counted { state, under_way: BTreeMap::new(), reservations: 0 };
        Self { daily_tokens_max, reserved_max: RESERVED_MAX, counted: Mutex::new(counted) }
    }

    /// Sets when unsettled reservations expire, instead of after half an hour.
    #[must_use]
    pub fn letting_go_after(mut self, time: Duration) -> Self {
        self.reserved_max = time;
        self
    }

    /// Returns the usage on `day` and what is left.
    pub fn reading(&self, day: &str) -> MeterReading {
        let counted = self.on(day);
        let used = counted.spoken_for();
        MeterReading {
            today: counted.state.clone(),
            daily_tokens_max: self.daily_tokens_max,
            tokens_left: self.daily_tokens_max.map(|max| max.saturating_sub(used)),
        }
    }

    /// Returns the state to persist.
    pub fn state(&self) -> MeterState {
        self.lock().state.clone()
    }

    /// Locks the counters, resets them if the day has changed, and expires old reservations.
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
        // After a restart, an id of the previous meter may belong to another reservation.
        let is_its_own =
            counted.under_way.get(&reserved.id).is_some_and(|one| one.needed == reserved.needed);
        let known = if is_its_own { counted.under_way.remove(&reserved.id) } else { None };
        let input = match known {
            // Expired and counted with the estimated input: add only what exceeds it.
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
    /// Tokens used and reserved.
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
            self.count(input, 0, Some("the call was never settled".to_owned()));
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
