//! The interface to the daily token budget: the [`crate::TokenMeter`] itself, or a client of the
//! process that owns it.
//!
//! A client keeps no state: `reserve` and `settle` are one call each to the owner. If the client is
//! killed in between, the reservation expires. If the owner cannot be reached, `reserve` fails
//! ([`ModelFailure::BudgetUnavailable`]), because a call that cannot be counted must not be made. A
//! lost `settle` is harmless: the meter then counts the estimated input.

use std::sync::Arc;

use crate::ModelFailure;

/// Reserves tokens before a call and records its actual cost afterwards.
pub trait Budget: Send + Sync {
    /// Reserves tokens on `day` (`2026-11-15`), or rejects the call with [`ModelFailure::OverBudget`].
    fn reserve(&self, day: &str, needed: CostEstimate) -> Result<Reservation, ModelFailure>;

    /// Records the outcome of the call, once per reservation.
    fn settle(&self, day: &str, reserved: &Reservation, spent: &CallCost);
}

/// The estimated maximum cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostEstimate {
    /// Estimated input tokens.
    pub input_tokens: u64,
    /// Maximum output tokens.
    pub output_tokens_max: u64,
}

impl CostEstimate {
    /// Input and output together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens_max)
    }
}

/// Tokens reserved for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a reservation must be settled"]
pub struct Reservation {
    /// Identifies the reservation in the meter.
    pub id: u64,
    /// The estimate it was made for.
    pub estimate: CostEstimate,
}

/// The actual cost of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallCost {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Why the call failed, if it did.
    pub failure: Option<String>,
}

impl<B: Budget + ?Sized> Budget for Arc<B> {
    fn reserve(&self, day: &str, needed: CostEstimate) -> Result<Reservation, ModelFailure> {
        (**self).reserve(day, needed)
    }

    fn settle(&self, day: &str, reserved: &Reservation, spent: &CallCost) {
        (**self).settle(day, reserved, spent);
    }
}
