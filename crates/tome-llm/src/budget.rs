//! Who keeps the day's budget: the [`crate::Meter`] itself, or something that asks the process that has it.
//!
//! One that asks another process hands on what it is given and keeps nothing: `reserve` is one question
//! to the owner of the meter, whose answer is the reservation's number, and `settle` is another. A client
//! that is killed between the two settles nothing; the meter lets its reservation go by itself. An owner
//! that cannot be reached is an error of `reserve` ([`ModelFailure::Down`]): a call that nobody counts is
//! not made. A `settle` that does not get through needs no more than a word to the user, because the meter
//! then counts what the call was to read.

use std::sync::Arc;

use crate::ModelFailure;

/// Sets aside what a call may cost before it is made, and counts what it did cost.
pub trait Budget: Send + Sync {
    /// Sets tokens aside on `day` (`2026-11-15`), or refuses the call with
    /// [`ModelFailure::OverBudget`].
    fn reserve(&self, day: &str, needed: Needed) -> Result<Reserved, ModelFailure>;

    /// What became of the call; said once for every reservation.
    fn settle(&self, day: &str, reserved: &Reserved, spent: &Spent);
}

/// What a call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// What the model is to read, about.
    pub input_tokens: u64,
    /// What it may say.
    pub output_tokens_max: u64,
}

impl Needed {
    /// Both together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens_max)
    }
}

/// Tokens set aside for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "what is set aside has to be settled"]
pub struct Reserved {
    /// Whose it is, for the keeper of the budget.
    pub id: u64,
    /// How many.
    pub needed: Needed,
}

/// What a call did cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spent {
    /// What the model read.
    pub input_tokens: u64,
    /// What it said.
    pub output_tokens: u64,
    /// Why there was no answer.
    pub failure: Option<String>,
}

impl<B: Budget + ?Sized> Budget for Arc<B> {
    fn reserve(&self, day: &str, needed: Needed) -> Result<Reserved, ModelFailure> {
        (**self).reserve(day, needed)
    }

    fn settle(&self, day: &str, reserved: &Reserved, spent: &Spent) {
        (**self).settle(day, reserved, spent);
    }
}
