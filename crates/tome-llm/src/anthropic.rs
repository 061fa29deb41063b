//! Anthropic's Messages API: `POST {base}/v1/messages`.

use serde_json::{Value, json};
use tome_text::estimate_tokens_conservatively;

use crate::http::{HttpClient, ModelEndpoint};
use crate::{Completion, CompletionRequest, LanguageModel, ModelFailure};

/// The protocol version sent with every request.
pub(crate) const API_VERSION: &str = "2023-06-01";

/// A model behind Anthropic's Messages API.
#[derive(Debug)]
pub struct AnthropicModel {
    pub(crate) http: HttpClient,
    pub(crate) model: String,
    pub(crate) name: String,
}

impl AnthropicModel {
    /// The default base URL.
    pub const BASE_URL: &str = "https://api.anthropic.com";

    /// Creates a client for `model` at `endpoint`. Sends nothing.
    pub fn new(endpoint: &ModelEndpoint, model: &str) -> Result<Self, ModelFailure> {
        // Users configure the address with and without `/v1`.
        let base = endpoint.base_url.trim().trim_end_matches('/').trim_end_matches("/v1");
        let endpoint = ModelEndpoint { base_url: base.to_owned(), ..endpoint.clone() };
        let http = HttpClient::new(&endpoint, "/v1/messages")?;
        Ok(Self { http, model: model.to_owned(), name: format!("anthropic/{model}") })
    }

    fn parse_completion(
        &self,
        answer: &Value,
        prompt: &CompletionRequest,
    ) -> Result<Completion, ModelFailure> {
        let text = collect_text(answer);
        match answer.get("stop_reason").and_then(Value::as_str) {
            Some("end_turn" | "stop_sequence") => {}
            Some("max_tokens" | "model_context_window_exceeded") => {
                return Err(ModelFailure::Truncated { tokens_max: prompt.tokens_max });
            }
            Some("refusal") => {
                return Err(ModelFailure::Refused { message: self.http.redact_message(&text) });
            }
            other => {
                let message = self
                    .http
                    .redact_message(&format!("stop_reason {}", other.unwrap_or("missing")));
                return Err(ModelFailure::Malformed { message });
            }
        }
        if text.trim().is_empty() {
            return Err(ModelFailure::Malformed { message: "it contains no text".to_owned() });
        }
        let used = |field: &str| answer.get("usage")?.get(field)?.as_u64();
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let cached: u64 = cached.into_iter().filter_map(used).sum();
        Ok(Completion {
            input_tokens: used("input_tokens").map_or_else(
                || {
                    estimate_tokens_conservatively(&prompt.system)
                        + estimate_tokens_conservatively(&prompt.user)
                },
                |fresh| fresh.saturating_add(cached),
            ),
            output_tokens: used("output_tokens")
                .unwrap_or_else(|| estimate_tokens_conservatively(&text)),
            text,
        })
    }
}

impl LanguageModel for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        let body = json!({
            "model": self.model,
            "max_tokens": prompt.tokens_max,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
        });
        let headers = [("x-api-key", "{key}"), ("anthropic-version", API_VERSION)];
        let answer = self.http.post(&headers, &body)?;
        self.parse_completion(&answer, prompt)
    }
}

/// Concatenates the text blocks. Other blocks, such as thinking, are not part of the answer.
fn collect_text(answer: &Value) -> String {
    let blocks = answer.get("content").and_then(Value::as_array).into_iter().flatten();
    blocks
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect()
}
