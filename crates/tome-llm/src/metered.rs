//! A model whose every call is counted, and refused when the day's budget is spent.

use std::sync::Arc;

use crate::{Completion, LanguageModel, Meter, ModelFailure, Prompt, tokens_about};

/// Which day it is, as `2026-11-15`; the caller decides where.
type Today = Box<dyn Fn() -> String + Send + Sync>;

/// Counts what goes through it.
pub struct Metered<M> {
    model: M,
    meter: Arc<Meter>,
    today: Today,
}

impl<M: LanguageModel> Metered<M> {
    /// Counts the calls of `model` on `meter`; several models may share one.
    pub fn new(
        model: M,
        meter: Arc<Meter>,
        today: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self { model, meter, today: Box::new(today) }
    }
}

impl<M: LanguageModel> LanguageModel for Metered<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        let input = tokens_about(&prompt.system).saturating_add(tokens_about(&prompt.user));
        let reserved = self.meter.reserve(&(self.today)(), input, u64::from(prompt.tokens_max))?;
        let outcome = self.model.complete(prompt);
        self.meter.settle(&(self.today)(), &reserved, &outcome);
        outcome
    }
}
