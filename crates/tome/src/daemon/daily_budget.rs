//! The daily token budget of all models.
//!
//! Today's usage is in `run/summarizer.json`, replaced after every call:
//!
//! `{"day":"2026-11-15","calls":4,"failures":1,"input_tokens":5210,"output_tokens":803,"last_failure":null}`

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tome_llm::{
    Budget, CallCost, CostEstimate, MeterSnapshot, MeterState, ModelFailure, Reservation,
    TokenMeter,
};
use tome_model::Clock;

use crate::config::Settings;

/// The daily token budget. Its state survives restarts.
pub struct DailyBudget {
    meter: TokenMeter,
    pub daily_tokens: u64,
    state_file: PathBuf,
    /// Held while the state is written, so that a later state is not overwritten by an earlier one.
    write_lock: Mutex<()>,
    clock: Arc<dyn Clock>,
}

impl DailyBudget {
    /// Continues from the saved state.
    pub fn new(settings: &Settings, clock: &Arc<dyn Clock>) -> Self {
        let state_file = settings.home.run().join("summarizer.json");
        let state = std::fs::read(&state_file).ok();
        let state: MeterState =
            state.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let daily_tokens = settings.summarizer.daily_tokens;
        Self {
            meter: TokenMeter::new(Some(daily_tokens), state),
            daily_tokens,
            state_file,
            write_lock: Mutex::default(),
            clock: Arc::clone(clock),
        }
    }

    /// Usage of today.
    pub fn snapshot(&self) -> MeterSnapshot {
        self.meter.snapshot(&self.clock.today())
    }
}

impl Budget for DailyBudget {
    fn reserve(&self, day: &str, estimate: CostEstimate) -> Result<Reservation, ModelFailure> {
        self.meter.reserve(day, estimate)
    }

    fn settle(&self, day: &str, reservation: &Reservation, spent: &CallCost) {
        self.meter.settle(day, reservation, spent);
        let _guard = self.write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let state = serde_json::to_vec(&self.meter.state()).unwrap_or_default();
        // Usage that cannot be written still counts until the daemon stops.
        let _ = tome_home::write_atomic(&self.state_file, &state);
    }
}
