//! Retries with exponential backoff and jitter, no sooner than the endpoint asks for. In a
//! conversation, a [`StreamEvent::Retry`](crate::StreamEvent::Retry) tells the caller to discard the
//! text received so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::limits::{ATTEMPTS_MAX, PAUSE_MAX};
use crate::{
    ChatModel, Completion, Heard, LanguageModel, ModelFailure, Prompt, Reply, Stop, Talk, Waited,
};

/// The retry policy: number of attempts and backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Total attempts; 1 means no retry.
    pub attempts: u32,
    /// Backoff after the first attempt; it doubles with each further one.
    pub base: Duration,
    /// Seed of the jitter. Clients with different seeds do not retry at the same moment.
    pub seed: u64,
}

/// A model wrapper that retries transient failures.
#[derive(Debug)]
pub struct Retrying<M> {
    model: M,
    again: Again,
}

impl<M> Retrying<M> {
    /// Retries calls of `model` as `retry` specifies, until `stop` is cancelled.
    pub fn new(model: M, retry: Retry, stop: Stop) -> Self {
        Self { model, again: Again::new(retry, stop) }
    }
}

impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        self.again.ask(|| self.model.complete(prompt))
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        let mut has_said = false;
        self.again.ask_until(stop, || {
            if std::mem::take(&mut has_said) {
                heard(Heard::Again);
            }
            let mut listen = |piece: Heard<'_>| {
                has_said = true;
                heard(piece);
            };
            self.model.reply(talk, &mut listen, stop)
        })
    }
}

/// Runs any call with retries.
#[derive(Debug)]
pub(crate) struct Again {
    retry: Retry,
    stop: Stop,
    chance: AtomicU64,
}

impl Again {
    pub(crate) fn new(retry: Retry, stop: Stop) -> Self {
        Self { retry, stop, chance: AtomicU64::new(retry.seed) }
    }

    /// Returns the first success or the last failure.
    pub(crate) fn ask<T>(
        &self,
        call: impl FnMut() -> Result<T, ModelFailure>,
    ) -> Result<T, ModelFailure> {
        self.ask_until(&self.stop, call)
    }

    /// Like [`RetryLoop::run`], but also stops when this call is cancelled.
    fn ask_until<T>(
        &self,
        stop: &Stop,
        mut call: impl FnMut() -> Result<T, ModelFailure>,
    ) -> Result<T, ModelFailure> {
        let attempts = self.retry.attempts.clamp(1, ATTEMPTS_MAX);
        for attempt in 0..attempts {
            let failure = match call() {
                Ok(answer) => return Ok(answer),
                Err(failure) if !failure.may_pass() || attempt + 1 == attempts => {
                    return Err(failure);
                }
                Err(failure) => failure,
            };
            let Some(pause) = self.pause(attempt, &failure) else { return Err(failure) };
            if stop.wait(pause) == Waited::Stopped || self.stop.is_stopped() {
                return Err(ModelFailure::Stopped);
            }
        }
        Err(ModelFailure::Stopped)
    }

    /// Returns the pause after an attempt (from 0), or `None` if the endpoint asks for too long a wait.
    fn pause(&self, attempt: u32, failure: &ModelFailure) -> Option<Duration> {
        let doubled = self.retry.base.saturating_mul(2_u32.saturating_pow(attempt));
        let backoff = doubled.min(PAUSE_MAX);
        // Jitter: between half and all of the backoff.
        let share = u32::try_from(self.next_chance() % 1_000).unwrap_or(0);
        let jittered = backoff / 2 + (backoff / 2_000) * share;
        match failure {
            ModelFailure::Busy { retry_after: Some(asked), .. } if *asked > PAUSE_MAX => None,
            ModelFailure::Busy { retry_after: Some(asked), .. } => Some(jittered.max(*asked)),
            _ => Some(jittered),
        }
    }

    /// Returns the next pseudo-random number (SplitMix64).
    fn next_chance(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut mixed = self.chance.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
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
        ModelFailure::Busy { retry_after, said: "429".to_owned() }
    }

    fn pauses(seed: u64, failure: &ModelFailure) -> Vec<Option<Duration>> {
        let retry = Retry { attempts: 9, base: Duration::from_secs(1), seed };
        let again = Again::new(retry, Stop::default());
        (0..8).map(|attempt| again.pause(attempt, failure)).collect()
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_are_jittered_downwards() {
        for (attempt, pause) in pauses(7, &busy(None)).into_iter().enumerate() {
            let whole = Duration::from_secs(1 << attempt).min(PAUSE_MAX);
            let pause = pause.unwrap();
            assert!(pause >= whole / 2 && pause <= whole, "{attempt}: {pause:?} of {whole:?}");
        }
        assert_ne!(pauses(7, &busy(None)), pauses(8, &busy(None)));
        assert_eq!(pauses(7, &busy(None)), pauses(7, &busy(None)));
    }

    #[test]
    fn nobody_comes_back_sooner_than_asked_for() {
        assert!(pauses(1, &busy(Some(20))).into_iter().all(|p| p >= Some(Duration::from_secs(20))));
        assert!(pauses(1, &busy(Some(3_600))).into_iter().all(|pause| pause.is_none()));
    }
}
