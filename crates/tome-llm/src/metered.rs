//! A model wrapper that counts every call and rejects calls beyond the daily budget.
//!
//! A failed call that may be billed is counted with its estimated input and the output received so far:
//! the count errs on the high side.

use tome_text::estimate_tokens_conservatively;

use crate::{
    Budget, CallCost, CancelToken, ChatModel, ChatRequest, ChatResponse, Completion,
    CompletionRequest, CostEstimate, LanguageModel, ModelFailure, StreamEvent,
};

/// Returns the current day as `2026-11-15`, in the caller's time zone.
type TodayFn = Box<dyn Fn() -> String + Send + Sync>;

/// A model whose calls are counted against a [`Budget`].
pub struct Metered<M> {
    model: M,
    budget: Box<dyn Budget>,
    today: TodayFn,
}

impl<M> Metered<M> {
    /// Counts the calls of `model` against `budget`, which several models may share.
    pub fn new(
        model: M,
        budget: impl Budget + 'static,
        today: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self { model, budget: Box::new(budget), today: Box::new(today) }
    }

    /// Reserves tokens, makes the call, and settles the cost that the call reports.
    fn call_metered<T>(
        &self,
        needed: CostEstimate,
        call: impl FnOnce() -> (Result<T, ModelFailure>, CallCost),
    ) -> Result<T, ModelFailure> {
        let reserved = self.budget.reserve(&(self.today)(), needed)?;
        let (outcome, spent) = call();
        self.budget.settle(&(self.today)(), &reserved, &spent);
        outcome
    }
}

impl<M: LanguageModel> LanguageModel for Metered<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        let input_tokens = estimate_tokens_conservatively(&prompt.system)
            .saturating_add(estimate_tokens_conservatively(&prompt.user));
        let needed = CostEstimate { input_tokens, output_tokens_max: u64::from(prompt.tokens_max) };
        self.call_metered(needed, || {
            let outcome = self.model.complete(prompt);
            let spent = match &outcome {
                Ok(done) => call_cost(done.input_tokens, done.output_tokens),
                Err(failure) => failed_call_cost(failure, needed, 0),
            };
            (outcome, spent)
        })
    }
}

impl<M: ChatModel> ChatModel for Metered<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        let needed = CostEstimate {
            input_tokens: request.estimate_tokens_conservatively(),
            output_tokens_max: u64::from(request.tokens_max),
        };
        self.call_metered(needed, || {
            let mut streamed_tokens = 0_u64;
            let mut listen = |piece: StreamEvent<'_>| {
                streamed_tokens = streamed_tokens.saturating_add(match piece {
                    StreamEvent::Text(text) => estimate_tokens_conservatively(text),
                    StreamEvent::ToolCallStart { name } => estimate_tokens_conservatively(name),
                    StreamEvent::Retry => 0,
                });
                on_event(piece);
            };
            let outcome = self.model.reply(request, &mut listen, stop);
            let spent = match &outcome {
                Ok(reply) => call_cost(reply.usage.input_total(), reply.usage.output),
                Err(failure) => failed_call_cost(failure, needed, streamed_tokens),
            };
            (outcome, spent)
        })
    }
}

fn call_cost(input_tokens: u64, output_tokens: u64) -> CallCost {
    CallCost { input_tokens, output_tokens, failure: None }
}

fn failed_call_cost(
    failure: &ModelFailure,
    needed: CostEstimate,
    streamed_tokens: u64,
) -> CallCost {
    let (input_tokens, output_tokens) = match failure {
        ModelFailure::Truncated { .. } => (needed.input_tokens, needed.output_tokens_max),
        _ if failure.may_be_billed() || streamed_tokens > 0 => {
            (needed.input_tokens, streamed_tokens)
        }
        _ => (0, 0),
    };
    CallCost { input_tokens, output_tokens, failure: Some(failure.to_string()) }
}
