//! Retries with exponential backoff and jitter, no sooner than the endpoint asks for. In a
//! conversation, a [`StreamEvent::Retry`](crate::StreamEvent::Retry) tells the caller to discard the
//! text received so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::limits::{ATTEMPTS_MAX, BACKOFF_MAX};
use crate::{
    CancelToken, ChatModel, ChatRequest, ChatResponse, Completion, CompletionRequest,
    LanguageModel, ModelFailure, StreamEvent, WaitOutcome,
};

/// The retry policy: number of attempts and backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Total attempts; 1 means no retry.
    pub attempts: u32,
    /// Backoff after the first attempt; it doubles with each further one.
    pub base: Duration,
    /// Seed of the jitter. Clients with different seeds do not retry at the same time.
    pub seed: u64,
}

/// A model wrapper that retries transient failures.
#[derive(Debug)]
pub struct Retrying<M> {
    model: M,
    retry: RetryLoop,
}

impl<M> Retrying<M> {
    /// Retries calls of `model` as `retry` specifies, until `stop` is cancelled.
    pub fn new(model: M, retry: Retry, stop: CancelToken) -> Self {
        Self { model, retry: RetryLoop::new(retry, stop) }
    }
}

impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        self.retry.run(|| self.model.complete(prompt))
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        let mut has_streamed = false;
        self.retry.run_until(stop, || {
            if std::mem::take(&mut has_streamed) {
                on_event(StreamEvent::Retry);
            }
            let mut listen = |piece: StreamEvent<'_>| {
                has_streamed = true;
                on_event(piece);
            };
            self.model.reply(request, &mut listen, stop)
        })
    }
}

/// Runs any call with retries.
#[derive(Debug)]
pub(crate) struct RetryLoop {
    retry: Retry,
    stop: CancelToken,
    rng_state: AtomicU64,
}

impl RetryLoop {
    pub(crate) fn new(retry: Retry, stop: CancelToken) -> Self {
        Self { retry, stop, rng_state: AtomicU64::new(retry.seed) }
    }

    /// Returns the first success or the last failure.
    pub(crate) fn run<T>(
        &self,
        call: impl FnMut() -> Result<T, ModelFailure>,
    ) -> Result<T, ModelFailure> {
        self.run_until(&self.stop, call)
    }

    /// Like [`RetryLoop::run`], but also stops when this call is cancelled.
    fn run_until<T>(
        &self,
        stop: &CancelToken,
        mut call: impl FnMut() -> Result<T, ModelFailure>,
    ) -> Result<T, ModelFailure> {
        let attempts = self.retry.attempts.clamp(1, ATTEMPTS_MAX);
        for attempt in 0..attempts {
            let failure = match call() {
                Ok(answer) => return Ok(answer),
                Err(failure) if !failure.is_transient() || attempt + 1 == attempts => {
                    return Err(failure);
                }
                Err(failure) => failure,
            };
            let Some(pause) = self.backoff(attempt, &failure) else { return Err(failure) };
            if stop.wait(pause) == WaitOutcome::Cancelled || self.stop.is_cancelled() {
                return Err(ModelFailure::Cancelled);
            }
        }
        Err(ModelFailure::Cancelled)
    }

    /// Returns the pause after an attempt (from 0), or `None` if the endpoint asks for too long a wait.
    fn backoff(&self, attempt: u32, failure: &ModelFailure) -> Option<Duration> {
        let doubled = self.retry.base.saturating_mul(2_u32.saturating_pow(attempt));
        let backoff = doubled.min(BACKOFF_MAX);
        // Jitter: between half and all of the backoff.
        let share = u32::try_from(self.next_random() % 1_000).unwrap_or(0);
        let jittered = backoff / 2 + (backoff / 2_000) * share;
        match failure {
            ModelFailure::Overloaded { retry_after: Some(wanted), .. } if *wanted > BACKOFF_MAX => {
                None
            }
            ModelFailure::Overloaded { retry_after: Some(wanted), .. } => {
                Some(jittered.max(*wanted))
            }
            _ => Some(jittered),
        }
    }

    /// Returns the next pseudo-random number (SplitMix64).
    fn next_random(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut mixed = self.rng_state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(after_s: Option<u64>) -> ModelFailure {
        let retry_after = after_s.map(Duration::from_secs);
        ModelFailure::Overloaded { retry_after, message: "429".to_owned() }
    }

    fn pauses(seed: u64, failure: &ModelFailure) -> Vec<Option<Duration>> {
        let retry = Retry { attempts: 9, base: Duration::from_secs(1), seed };
        let again = RetryLoop::new(retry, CancelToken::default());
        (0..8).map(|attempt| again.backoff(attempt, failure)).collect()
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_are_jittered_downwards() {
        for (attempt, pause) in pauses(7, &busy(None)).into_iter().enumerate() {
            let whole = Duration::from_secs(1 << attempt).min(BACKOFF_MAX);
            let pause = pause.unwrap();
            assert!(pause >= whole / 2 && pause <= whole, "{attempt}: {pause:?} of {whole:?}");
        }
        assert_ne!(pauses(7, &busy(None)), pauses(8, &busy(None)));
        assert_eq!(pauses(7, &busy(None)), pauses(7, &busy(None)));
    }

    #[test]
    fn retries_respect_retry_after() {
        assert!(pauses(1, &busy(Some(20))).into_iter().all(|p| p >= Some(Duration::from_secs(20))));
        assert!(pauses(1, &busy(Some(3_600))).into_iter().all(|pause| pause.is_none()));
    }
}
