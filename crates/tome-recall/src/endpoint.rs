//! The embedder behind an endpoint that speaks as OpenAI's does.
//!
//! What is sent has no secrets in it: events were redacted before they were stored, and a note that
//! somebody wrote by hand, or a question, is redacted here. A question waits only so long, its vector
//! is remembered, and after a failure nobody is asked again before a pause that grows with each.
//!
//! Cosines of some models are all close to 1. So with the first question a few sentences about nothing in
//! common are sent along: what they have in common all the same is what nearness is counted from.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tome_finder::{EmbedError, Embedder};
use tome_llm::{Embeddings, ModelFailure};

use tome_redact::Redactor;

/// The pause after the first failure; it doubles with each, up to the longest. The longest is short:
/// an endpoint that is back is used again within a minute.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// An endpoint that asks for a longer pause gets it, up to here.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(600);
/// Questions whose vectors are remembered: one recall asks several indexes the same.
const QUESTIONS_MAX: usize = 64;

/// Sentences that have nothing to do with each other.
const UNRELATED: [&str; 4] = [
    "The kettle boils on the stove in the kitchen.",
    "Parliament adjourned without a vote on the treaty.",
    "A migration failed because the column was not nullable.",
    "Fresh snow fell on the northern slopes all night.",
];
/// A model that finds everything alike is not believed further than this.
const UNRELATED_MAX: f32 = 0.9;

/// An embedder that an endpoint is asked for.
pub struct EndpointEmbedder {
    name: String,
    dimensions: usize,
    clients: Result<Clients, String>,
    redactor: Arc<Redactor>,
    state: Mutex<State>,
}

/// The endpoint, asked with much time and with little.
struct Clients {
    patient: Embeddings,
    quick: Embeddings,
}

#[derive(Default)]
struct State {
    texts: u64,
    failures: u32,
    problem: Option<String>,
    until: Option<Instant>,
    /// The cosine of texts that have nothing to do with each other; `None` until it was measured.
    unrelated: Option<f32>,
    /// The latest last.
    questions: VecDeque<(blake3::Hash, Vec<f32>)>,
}

/// How the endpoint is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmbedderReading {
    /// Texts that it has made vectors of since it was first asked.
    pub texts: u64,
    /// Why it did not answer the last time; `None` when all is well.
    pub problem: Option<String>,
    /// When it is asked again.
    pub again_in: Option<Duration>,
}

impl EndpointEmbedder {
    /// `patient` makes the vectors of what is stored, `quick` those of questions: the same endpoint
    /// and model, with different time-outs. Neither is to ask again by itself.
    pub fn new(patient: Embeddings, quick: Embeddings, redactor: Arc<Redactor>) -> Self {
        let (name, dimensions) = (patient.name().to_owned(), patient.dimensions());
        Self::with(name, dimensions, Ok(Clients { patient, quick }), redactor)
    }

    /// An endpoint that cannot be asked as it is set up. It makes no vectors, and says why; those that
    /// are there stay as they are.
    pub fn unusable(name: String, problem: String, redactor: Arc<Redactor>) -> Self {
        Self::with(name, 1, Err(problem), redactor)
    }

    fn with(
        name: String,
        dimensions: usize,
        clients: Result<Clients, String>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let problem = clients.as_ref().err().cloned();
        let state = Mutex::new(State { problem, ..State::default() });
        Self { name, dimensions, clients, redactor, state }
    }

    /// How it is.
    pub fn reading(&self) -> EmbedderReading {
        let state = self.state();
        let again_in = state.until.and_then(|until| until.checked_duration_since(Instant::now()));
        EmbedderReading { texts: state.texts, problem: state.problem.clone(), again_in }
    }

    /// Whether it is not to be asked now.
    pub fn is_resting(&self) -> bool {
        self.clients.is_err() || self.state().rests_for().is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> Result<&Clients, EmbedError> {
        self.clients.as_ref().map_err(|problem| self.error(problem))
    }

    fn error(&self, problem: &str) -> EmbedError {
        EmbedError { embedder: self.name.clone(), problem: problem.to_owned() }
    }

    fn ask(&self, client: &Embeddings, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let clean: Vec<_> = texts.iter().map(|text| self.redactor.redact(text)).collect();
        let borrowed: Vec<&str> = clean.iter().map(|text| &**text).collect();
        let answered = client.embed(&borrowed);
        let mut state = self.state();
        match answered {
            Ok(vectors) => {
                state.texts += texts.len() as u64;
                (state.failures, state.problem, state.until) = (0, None, None);
                Ok(vectors)
            }
            Err(failure) => {
                let problem = explained(&failure);
                state.fail(problem.clone(), &failure);
                Err(self.error(&problem))
            }
        }
    }
}

impl State {
    fn rests_for(&self) -> Option<Duration> {
        self.until?.checked_duration_since(Instant::now())
    }

    fn fail(&mut self, problem: String, failure: &ModelFailure) {
        let doubled = PAUSE_MIN.saturating_mul(2_u32.saturating_pow(self.failures));
        let pause = match failure {
            ModelFailure::Busy { retry_after: Some(asked), .. } => {
                doubled.min(PAUSE_MAX).max((*asked).min(ASKED_PAUSE_MAX))
            }
            _ => doubled.min(PAUSE_MAX),
        };
        self.failures = self.failures.saturating_add(1);
        self.problem = Some(problem);
        self.until = Instant::now().checked_add(pause);
    }
}

/// The mean of the cosines of vectors of length 1, each with each other.
fn in_common(vectors: &[Vec<f32>]) -> f32 {
    let mut cosines = Vec::new();
    for (n, one) in vectors.iter().enumerate() {
        for other in vectors.iter().skip(n + 1) {
            cosines.push(one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
        }
    }
    cosines.iter().sum::<f32>() / cosines.len().max(1) as f32
}

/// What is wrong, and what to do about it where that is known.
fn explained(failure: &ModelFailure) -> String {
    match failure {
        ModelFailure::Malformed { said } if said.contains("dimensions instead of") => {
            format!("it gave {said}: set embed.dimensions to what the model gives")
        }
        other => other.to_string(),
    }
}

impl Embedder for EndpointEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_far(&self) -> bool {
        true
    }

    fn unrelated(&self) -> f32 {
        self.state().unrelated.unwrap_or(0.0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.ask(&self.clients()?.patient, texts)
    }

    fn embed_question(
        &self,
        text: &str,
        _weight: &dyn Fn(u32) -> f32,
    ) -> Result<Vec<f32>, EmbedError> {
        let clients = self.clients()?;
        let hash = blake3::hash(text.as_bytes());
        {
            let state = self.state();
            if let Some((_, vector)) = state.questions.iter().find(|(known, _)| *known == hash) {
                return Ok(vector.clone());
            }
            if state.rests_for().is_some() {
                return Err(self.error(state.problem.as_deref().unwrap_or("is not asked now")));
            }
        }
        let is_measured = self.state().unrelated.is_some();
        let along: &[&str] = if is_measured { &[] } else { &UNRELATED };
        let mut vectors = self.ask(&clients.quick, &[&[text], along].concat())?.into_iter();
        let vector = vectors.next().unwrap_or_default();
        let mut state = self.state();
        if !is_measured {
            let others: Vec<_> = vectors.collect();
            state.unrelated = Some(in_common(&others).clamp(0.0, UNRELATED_MAX));
        }
        if state.questions.len() >= QUESTIONS_MAX {
            state.questions.pop_front();
        }
        state.questions.push_back((hash, vector.clone()));
        Ok(vector)
    }
}
