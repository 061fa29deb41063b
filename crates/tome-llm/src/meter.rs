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

use crate::limits::RESERVATION_TTL;
use crate::{Budget, CallCost, CostEstimate, ModelFailure, Reservation};

/// Counts the tokens of a day and rejects calls that would exceed the budget.
#[derive(Debug)]
pub struct TokenMeter {
    daily_tokens_max: Option<u64>,
    reservation_ttl: Duration,
    counted: Mutex<MeterCounts>,
}

#[derive(Debug)]
struct MeterCounts {
    state: MeterState,
    /// Unsettled reservations by id.
    open: BTreeMap<u64, OpenReservation>,
    reservations: u64,
}

#[derive(Debug)]
struct OpenReservation {
    estimate: CostEstimate,
    since: Instant,
    /// Not settled in time: already counted and no longer reserved.
    is_expired: bool,
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
    /// Input tokens of all calls of the day.
    pub input_tokens: u64,
    /// Output tokens of all calls of the day.
    pub output_tokens: u64,
    /// The latest failure.
    pub last_failure: Option<String>,
}

/// Usage and limits at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeterSnapshot {
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

impl TokenMeter {
    /// Continues from a persisted state. Without `daily_tokens_max` it only counts.
    pub fn new(daily_tokens_max: Option<u64>, state: MeterState) -> Self {
        let counted = MeterCounts { state, open: BTreeMap::new(), reservations: 0 };
        Self { daily_tokens_max, reservation_ttl: RESERVATION_TTL, counted: Mutex::new(counted) }
    }

    /// Sets when unsettled reservations expire, instead of after half an hour.
    #[must_use]
    pub fn with_reservation_ttl(mut self, time: Duration) -> Self {
        self.reservation_ttl = time;
        self
    }

    /// Returns the usage on `day` and what is left.
    pub fn snapshot(&self, day: &str) -> MeterSnapshot {
        let counted = self.lock_day(day);
        let used = counted.committed_tokens();
        MeterSnapshot {
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
    fn lock_day(&self, day: &str) -> MutexGuard<'_, MeterCounts> {
        let mut counted = self.lock();
        if counted.state.day != day {
            counted.state = MeterState { day: day.to_owned(), ..MeterState::default() };
            counted.open.retain(|_, one| !one.is_expired);
        }
        counted.expire_reservations(self.reservation_ttl);
        counted
    }

    fn lock(&self) -> MutexGuard<'_, MeterCounts> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Budget for TokenMeter {
    fn reserve(&self, day: &str, needed: CostEstimate) -> Result<Reservation, ModelFailure> {
        let mut counted = self.lock_day(day);
        let spent = counted.committed_tokens();
        if let Some(limit) = self.daily_tokens_max
            && spent.saturating_add(needed.tokens()) > limit
        {
            return Err(ModelFailure::OverBudget { spent, budget: limit, needed: needed.tokens() });
        }
        counted.reservations += 1;
        let id = counted.reservations;
        let one = OpenReservation { estimate: needed, since: Instant::now(), is_expired: false };
        counted.open.insert(id, one);
        Ok(Reservation { id, estimate: needed })
    }

    fn settle(&self, day: &str, reserved: &Reservation, spent: &CallCost) {
        let mut counted = self.lock_day(day);
        // After a restart, an id of the previous meter may belong to another reservation.
        let is_its_own =
            counted.open.get(&reserved.id).is_some_and(|one| one.estimate == reserved.estimate);
        let estimate = if is_its_own { counted.open.remove(&reserved.id) } else { None };
        let input = match estimate {
            // Expired and counted with the estimated input: add only what exceeds it.
            Some(one) if one.is_expired => {
                let state = &mut counted.state;
                state.calls = state.calls.saturating_sub(1);
                state.failures = state.failures.saturating_sub(1);
                spent.input_tokens.saturating_sub(one.estimate.input_tokens)
            }
            _ => spent.input_tokens,
        };
        counted.record_call(input, spent.output_tokens, spent.failure.clone());
    }
}

impl MeterCounts {
    /// Tokens used and reserved.
    fn committed_tokens(&self) -> u64 {
        let under_way = self.open.values().filter(|one| !one.is_expired);
        under_way.map(|one| one.estimate.tokens()).fold(self.state.tokens(), u64::saturating_add)
    }

    fn expire_reservations(&mut self, after: Duration) {
        let over = self.open.values_mut();
        let over = over.filter(|one| !one.is_expired && one.since.elapsed() >= after);
        let inputs: Vec<u64> = over
            .map(|one| {
                one.is_expired = true;
                one.estimate.input_tokens
            })
            .collect();
        for input in inputs {
            self.record_call(input, 0, Some("the call was never settled".to_owned()));
        }
    }

    fn record_call(&mut self, input: u64, output: u64, failure: Option<String>) {
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
