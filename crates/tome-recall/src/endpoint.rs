//! An embedder behind an OpenAI-compatible endpoint.
//!
//! No secret is sent: events are redacted before they are stored, and hand-written notes and
//! queries are redacted here. Queries have a short timeout and their vectors are cached. After a
//! failure, requests pause with exponential backoff.
//!
//! Some models return similarities that are all close to 1. The first query therefore also embeds a few
//! unrelated sentences; their mean similarity becomes the zero point of the similarity score.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tome_finder::{EmbedError, Embedder, StaticEmbedder};
use tome_llm::{EmbeddingsClient, ModelFailure};

use tome_redact::Redactor;

/// Backoff after the first failure; it doubles with each further one, up to the maximum. The
/// maximum is short, so that an endpoint that recovers is used again within a minute.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Upper limit for a pause that the endpoint requests.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(600);
/// Number of cached query vectors; one recall sends the same query to several indexes.
const CACHED_QUERIES_MAX: usize = 64;

/// Sentences that have nothing in common.
const UNRELATED_TEXTS: [&str; 4] = [
    "The kettle boils on the stove in the kitchen.",
    "Parliament adjourned without a vote on the treaty.",
    "A migration failed because the column was not nullable.",
    "Fresh snow fell on the northern slopes all night.",
];
/// Upper limit for the measured baseline, in case a model finds everything similar.
const UNRELATED_SIMILARITY_MAX: f32 = 0.9;

/// An embedder behind an OpenAI-compatible endpoint.
pub struct EndpointEmbedder {
    name: String,
    dimensions: usize,
    clients: Result<EndpointClients, String>,
    redactor: Arc<Redactor>,
    state: Mutex<EndpointState>,
}

/// Clients with a long timeout for indexing and a short one for queries.
struct EndpointClients {
    indexing: EmbeddingsClient,
    query: EmbeddingsClient,
}

#[derive(Default)]
struct EndpointState {
    texts: u64,
    failures: u32,
    problem: Option<String>,
    retry_at: Option<Instant>,
    /// Cosine similarity of unrelated texts; `None` until measured.
    unrelated_similarity: Option<f32>,
    /// Cached query vectors, newest last.
    cached_queries: VecDeque<(blake3::Hash, Vec<f32>)>,
}

/// Status of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmbedderStatus {
    /// Texts embedded so far.
    pub texts: u64,
    /// Reason for the last failure; `None` after a success.
    pub problem: Option<String>,
    /// Time until the next attempt.
    pub retry_in: Option<Duration>,
}

impl EndpointEmbedder {
    /// Creates an embedder. `patient` embeds stored texts, `quick` queries: same endpoint and
    /// model, different timeouts. Neither may retry by itself.
    pub fn new(
        patient: EmbeddingsClient,
        quick: EmbeddingsClient,
        redactor: Arc<Redactor>,
    ) -> Self {
        let (name, dimensions) = (patient.name().to_owned(), patient.dimensions());
        Self::with_clients(
            name,
            dimensions,
            Ok(EndpointClients { indexing: patient, query: quick }),
            redactor,
        )
    }

    /// Creates an embedder for an invalid configuration: it always fails with `problem`. Existing
    /// vectors are kept.
    pub fn unusable(name: String, problem: String, redactor: Arc<Redactor>) -> Self {
        Self::with_clients(name, 1, Err(problem), redactor)
    }

    fn with_clients(
        name: String,
        dimensions: usize,
        clients: Result<EndpointClients, String>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let problem = clients.as_ref().err().cloned();
        let state = Mutex::new(EndpointState { problem, ..EndpointState::default() });
        Self { name, dimensions, clients, redactor, state }
    }

    /// Returns the current status.
    pub fn status(&self) -> EmbedderStatus {
        let state = self.lock_state();
        let again_in =
            state.retry_at.and_then(|until| until.checked_duration_since(Instant::now()));
        EmbedderStatus { texts: state.texts, problem: state.problem.clone(), retry_in: again_in }
    }

    /// Returns whether no requests should be sent at the moment.
    pub fn is_backing_off(&self) -> bool {
        self.clients.is_err() || self.lock_state().remaining_backoff().is_some()
    }

    fn lock_state(&self) -> MutexGuard<'_, EndpointState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> Result<&EndpointClients, EmbedError> {
        self.clients.as_ref().map_err(|problem| self.embed_error(problem))
    }

    fn embed_error(&self, problem: &str) -> EmbedError {
        EmbedError { embedder: self.name.clone(), problem: problem.to_owned() }
    }

    fn request_vectors(
        &self,
        client: &EmbeddingsClient,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let clean: Vec<_> = texts.iter().map(|text| self.redactor.redact(text)).collect();
        let borrowed: Vec<&str> = clean.iter().map(|text| &**text).collect();
        let answered = client.embed(&borrowed);
        let mut state = self.lock_state();
        match answered {
            Ok(vectors) => {
                state.texts += texts.len() as u64;
                (state.failures, state.problem, state.retry_at) = (0, None, None);
                Ok(vectors)
            }
            Err(failure) => {
                let problem = explain_failure(&failure);
                state.record_failure(problem.clone(), &failure);
                Err(self.embed_error(&problem))
            }
        }
    }
}

impl EndpointState {
    fn remaining_backoff(&self) -> Option<Duration> {
        self.retry_at?.checked_duration_since(Instant::now())
    }

    fn record_failure(&mut self, problem: String, failure: &ModelFailure) {
        let doubled = BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(self.failures));
        let pause = match failure {
            ModelFailure::Overloaded { retry_after: Some(retry_after), .. } => {
                doubled.min(BACKOFF_MAX).max((*retry_after).min(RETRY_AFTER_MAX))
            }
            _ => doubled.min(BACKOFF_MAX),
        };
        self.failures = self.failures.saturating_add(1);
        self.problem = Some(problem);
        self.retry_at = Instant::now().checked_add(pause);
    }
}

/// Mean pairwise cosine similarity of unit vectors.
fn mean_similarity(vectors: &[Vec<f32>]) -> f32 {
    let mut similarities = Vec::new();
    for (n, one) in vectors.iter().enumerate() {
        for other in vectors.iter().skip(n + 1) {
            similarities.push(one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
        }
    }
    similarities.iter().sum::<f32>() / similarities.len().max(1) as f32
}

/// Describes a failure, with a next step if one is known.
fn explain_failure(failure: &ModelFailure) -> String {
    match failure {
        ModelFailure::Malformed { message } if message.contains("dimensions instead of") => {
            format!("returned {message}: set embed.dimensions to the model's dimensions")
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

    fn is_remote(&self) -> bool {
        true
    }

    fn unrelated_similarity(&self) -> f32 {
        self.lock_state().unrelated_similarity.unwrap_or(0.0)
    }

    fn earlier_embedder(&self, name: &str) -> Option<Arc<dyn Embedder>> {
        if name == StaticEmbedder.name() {
            return Some(Arc::new(StaticEmbedder));
        }
        let query = self.clients.as_ref().ok()?.query.for_vectors_of(name)?;
        Some(Arc::new(Self::new(query.clone(), query, Arc::clone(&self.redactor))))
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.request_vectors(&self.clients()?.indexing, texts)
    }

    fn embed_query(
        &self,
        text: &str,
        _weight: &dyn Fn(u32) -> f32,
    ) -> Result<Vec<f32>, EmbedError> {
        let clients = self.clients()?;
        let hash = blake3::hash(text.as_bytes());
        {
            let state = self.lock_state();
            if let Some((_, vector)) = state.cached_queries.iter().find(|(known, _)| *known == hash)
            {
                return Ok(vector.clone());
            }
            if state.remaining_backoff().is_some() {
                return Err(
                    self.embed_error(state.problem.as_deref().unwrap_or("paused after a failure"))
                );
            }
        }
        let is_measured = self.lock_state().unrelated_similarity.is_some();
        let along: &[&str] = if is_measured { &[] } else { &UNRELATED_TEXTS };
        let mut vectors =
            self.request_vectors(&clients.query, &[&[text], along].concat())?.into_iter();
        let vector = vectors.next().unwrap_or_default();
        let mut state = self.lock_state();
        if !is_measured {
            let others: Vec<_> = vectors.collect();
            state.unrelated_similarity =
                Some(mean_similarity(&others).clamp(0.0, UNRELATED_SIMILARITY_MAX));
        }
        if state.cached_queries.len() >= CACHED_QUERIES_MAX {
            state.cached_queries.pop_front();
        }
        state.cached_queries.push_back((hash, vector.clone()));
        Ok(vector)
    }
}
