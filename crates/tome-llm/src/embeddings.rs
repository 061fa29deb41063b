//! Embeddings over the OpenAI protocol, as served by OpenAI, Ollama, vLLM and LM Studio:
//! `POST {base}/embeddings`.
//!
//! Responses are validated: one vector per text, with the configured dimensions and finite numbers.
//! Vectors are normalized to length 1. Blank texts are not sent and get a zero vector.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_model::truncate_to;

use crate::http::{HttpClient, ModelEndpoint};
use crate::limits::{
    EMBEDDED_BYTES_MAX, EMBEDDED_NUMBER_BYTES, EMBEDDED_TEXTS_MAX, RESPONSE_BYTES_MAX,
};
use crate::retry::RetryLoop;
use crate::{CancelToken, ModelFailure, Retry};

/// A client for an embeddings endpoint.
#[derive(Debug, Clone)]
pub struct EmbeddingsClient {
    http: Arc<HttpClient>,
    model: String,
    name: String,
    dimensions: usize,
    retry: Arc<RetryLoop>,
}

impl EmbeddingsClient {
    /// Creates a client for `model` at `endpoint`, whose vectors have `dimensions` numbers. Sends
    /// nothing. Transient failures are retried as `retry` specifies, until `stop` is cancelled.
    pub fn new(
        endpoint: &ModelEndpoint,
        model: &str,
        dimensions: usize,
        retry: Retry,
        stop: CancelToken,
    ) -> Result<Self, ModelFailure> {
        if dimensions == 0 {
            let problem =
                "an embedding model needs at least one dimension: set the number of dimensions";
            return Err(ModelFailure::Misconfigured(problem.to_owned()));
        }
        Ok(Self {
            http: Arc::new(HttpClient::new(endpoint, "/embeddings")?),
            model: model.to_owned(),
            name: format!("openai/{model}/{dimensions}"),
            dimensions,
            retry: Arc::new(RetryLoop::new(retry, stop)),
        })
    }

    /// A client for another model at the same endpoint, by the name of its vectors; `None` if that is not
    /// such a name.
    pub fn for_vectors_of(&self, name: &str) -> Option<Self> {
        let (model, dimensions) = name.strip_prefix("openai/")?.rsplit_once('/')?;
        let dimensions = dimensions.parse().ok().filter(|dimensions| *dimensions > 0)?;
        Some(Self { model: model.to_owned(), name: name.to_owned(), dimensions, ..self.clone() })
    }

    /// Model and dimensions. Vectors with different names are not comparable.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Numbers per vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns one vector per text, in order.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelFailure> {
        let mut vectors = vec![vec![0.0; self.dimensions]; texts.len()];
        let mut pending: Vec<_> =
            vectors.iter_mut().zip(texts).filter(|(_, text)| !text.trim().is_empty()).collect();
        for batch in pending.chunks_mut(self.batch_size()) {
            let texts: Vec<&str> =
                batch.iter().map(|(_, text)| truncate_to(text, EMBEDDED_BYTES_MAX)).collect();
            let answers = self.retry.run(|| self.request_batch(&texts))?;
            for ((vector, _), answer) in batch.iter_mut().zip(answers) {
                **vector = answer;
            }
        }
        Ok(vectors)
    }

    /// Number of texts per request, such that the vectors fit into one response.
    fn batch_size(&self) -> usize {
        let fit =
            RESPONSE_BYTES_MAX / (self.dimensions as u64).saturating_mul(EMBEDDED_NUMBER_BYTES);
        usize::try_from(fit.clamp(1, EMBEDDED_TEXTS_MAX)).unwrap_or(1)
    }

    fn request_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelFailure> {
        let headers = [("authorization", "Bearer {key}")];
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let answer = self.http.post(&headers, &body)?;
        self.parse_vectors(&answer, texts.len())
            .map_err(|message| ModelFailure::Malformed { message })
    }

    /// Parses the vectors in the order of the texts, or returns what is wrong with them.
    fn parse_vectors(&self, answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
        let items = answer.get("data").and_then(Value::as_array).ok_or("it contains no vectors")?;
        if items.len() != count {
            return Err(format!("{} vectors for {count} texts", items.len()));
        }
        let mut vectors = vec![None; count];
        for (i, item) in items.iter().enumerate() {
            // Endpoints that omit the index answer in order.
            let index = item.get("index").map_or(Some(i as u64), Value::as_u64);
            let slot = index.and_then(|index| vectors.get_mut(usize::try_from(index).ok()?));
            let slot = slot.ok_or("it contains a vector for a text that was not sent")?;
            if slot.replace(self.parse_vector(item)?).is_some() {
                return Err("it contains two vectors for one text".to_owned());
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    fn parse_vector(&self, item: &Value) -> Result<Vec<f32>, String> {
        let numbers =
            item.get("embedding").and_then(Value::as_array).ok_or("it contains no vectors")?;
        if numbers.len() != self.dimensions {
            return Err(format!("{} dimensions instead of {}", numbers.len(), self.dimensions));
        }
        let numbers: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
        let numbers = numbers.ok_or("a component is not a number")?;
        let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
        if !length.is_finite() {
            return Err("the numbers are too large".to_owned());
        }
        let scale = if length > 0.0 { length } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, reason = "between -1 and 1, rounded")]
        Ok(numbers.iter().map(|number| (number / scale) as f32).collect())
    }
}
