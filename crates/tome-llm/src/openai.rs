//! The chat completions protocol of OpenAI, also served by Ollama, vLLM and LM Studio:
//! `POST {base}/chat/completions`.
//!
//! Endpoints differ in three fields. Once rejected, a field is omitted or renamed.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tome_text::estimate_tokens_conservatively;

use crate::http::{HttpClient, ModelEndpoint};
use crate::{Completion, CompletionRequest, LanguageModel, ModelFailure};

/// A model behind the chat completions protocol.
#[derive(Debug)]
pub struct OpenAiModel {
    pub(crate) http: HttpClient,
    pub(crate) model: String,
    pub(crate) name: String,
    /// Newer OpenAI models accept only `max_completion_tokens`, most others only `max_tokens`.
    uses_completion_tokens: AtomicBool,
    /// LM Studio rejects `json_object`.
    omits_response_format: AtomicBool,
    /// Some endpoints reject the request to report the usage of a stream.
    pub(crate) omits_stream_options: AtomicBool,
}

impl OpenAiModel {
    /// OpenAI's base URL. Ollama's is `http://127.0.0.1:11434/v1`.
    pub const BASE_URL: &str = "https://api.openai.com/v1";

    /// Creates a client for `model` at `endpoint`. Sends nothing.
    pub fn new(endpoint: &ModelEndpoint, model: &str) -> Result<Self, ModelFailure> {
        Ok(Self {
            http: HttpClient::new(endpoint, "/chat/completions")?,
            model: model.to_owned(),
            name: format!("openai/{model}"),
            uses_completion_tokens: AtomicBool::new(false),
            omits_response_format: AtomicBool::new(false),
            omits_stream_options: AtomicBool::new(false),
        })
    }

    fn build_body(&self, prompt: &CompletionRequest) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
        });
        if let Some(fields) = body.as_object_mut() {
            fields.insert(self.max_tokens_field().to_owned(), prompt.tokens_max.into());
            if prompt.json && !self.omits_response_format.load(Ordering::Relaxed) {
                fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
            }
        }
        body
    }

    /// The field with the token limit of the answer.
    pub(crate) fn max_tokens_field(&self) -> &'static str {
        if self.uses_completion_tokens.load(Ordering::Relaxed) {
            "max_completion_tokens"
        } else {
            "max_tokens"
        }
    }

    /// Adapts to the rejection of one of these fields. Returns whether to retry.
    pub(crate) fn adapt_to(&self, failure: &ModelFailure, sent: &Value) -> bool {
        let ModelFailure::Rejected { message, .. } = failure else { return false };
        let about = |words: &str, field: &str| message.contains(words) && sent.get(field).is_some();
        if about("max_completion_tokens", "max_tokens") {
            self.uses_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        if about("stream_options", "stream_options") {
            self.omits_stream_options.store(true, Ordering::Relaxed);
            return true;
        }
        let format = about("response_format", "response_format");
        if format {
            self.omits_response_format.store(true, Ordering::Relaxed);
        }
        format
    }

    fn parse_completion(
        &self,
        answer: &Value,
        prompt: &CompletionRequest,
    ) -> Result<Completion, ModelFailure> {
        let text_at = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
        if let Some(refusal) = text_at("/choices/0/message/refusal").filter(|it| !it.is_empty()) {
            return Err(ModelFailure::Refused { message: self.http.redact_message(refusal) });
        }
        match text_at("/choices/0/finish_reason") {
            Some("length") => {
                return Err(ModelFailure::Truncated { tokens_max: prompt.tokens_max });
            }
            Some("content_filter") => {
                return Err(ModelFailure::Refused { message: "content_filter".to_owned() });
            }
            // Some endpoints omit it; a truncated text shows when it is parsed.
            _ => {}
        }
        let text = text_at("/choices/0/message/content").filter(|text| !text.trim().is_empty());
        let Some(text) = text else {
            return Err(ModelFailure::Malformed { message: "it contains no text".to_owned() });
        };
        let used = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64);
        Ok(Completion {
            text: text.to_owned(),
            input_tokens: used("/usage/prompt_tokens").unwrap_or_else(|| {
                estimate_tokens_conservatively(&prompt.system)
                    + estimate_tokens_conservatively(&prompt.user)
            }),
            output_tokens: used("/usage/completion_tokens")
                .unwrap_or_else(|| estimate_tokens_conservatively(text)),
        })
    }
}

impl LanguageModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        let headers = [("authorization", "Bearer {key}")];
        loop {
            let body = self.build_body(prompt);
            match self.http.post(&headers, &body) {
                Ok(answer) => return self.parse_completion(&answer, prompt),
                // A rejected field is never sent again, so this terminates.
                Err(failure) if self.adapt_to(&failure, &body) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}
