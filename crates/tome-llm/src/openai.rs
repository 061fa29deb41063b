//! The chat completions protocol of OpenAI, also served by Ollama, vLLM and LM Studio:
//! `POST {base}/chat/completions`.
//!
//! Endpoints differ in three fields. Once rejected, a field is omitted or renamed.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tome_text::budget_tokens;

use crate::http::{Endpoint, Http};
use crate::{Completion, LanguageModel, ModelFailure, Prompt};

/// A model behind the chat completions protocol.
#[derive(Debug)]
pub struct OpenAiModel {
    pub(crate) http: Http,
    pub(crate) model: String,
    pub(crate) name: String,
    /// Newer OpenAI models accept only `max_completion_tokens`, most others only `max_tokens`.
    says_completion_tokens: AtomicBool,
    /// LM Studio rejects `json_object`.
    leaves_format_out: AtomicBool,
    /// Some endpoints reject the request to report the usage of a stream.
    pub(crate) leaves_stream_options_out: AtomicBool,
}

impl OpenAiModel {
    /// OpenAI's base URL. Ollama's is `http://127.0.0.1:11434/v1`.
    pub const BASE_URL: &str = "https://api.openai.com/v1";

    /// Creates a client for `model` at `endpoint`. Sends nothing.
    pub fn new(endpoint: &Endpoint, model: &str) -> Result<Self, ModelFailure> {
        Ok(Self {
            http: Http::new(endpoint, "/chat/completions")?,
            model: model.to_owned(),
            name: format!("openai/{model}"),
            says_completion_tokens: AtomicBool::new(false),
            leaves_format_out: AtomicBool::new(false),
            leaves_stream_options_out: AtomicBool::new(false),
        })
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
        });
        if let Some(fields) = body.as_object_mut() {
            fields.insert(self.room_field().to_owned(), prompt.tokens_max.into());
            if prompt.json && !self.leaves_format_out.load(Ordering::Relaxed) {
                fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
            }
        }
        body
    }

    /// The field with the token limit of the answer.
    pub(crate) fn room_field(&self) -> &'static str {
        if self.says_completion_tokens.load(Ordering::Relaxed) {
            "max_completion_tokens"
        } else {
            "max_tokens"
        }
    }

    /// Adapts to the rejection of one of these fields. Returns whether to retry.
    pub(crate) fn learns_from(&self, failure: &ModelFailure, sent: &Value) -> bool {
        let ModelFailure::Rejected { said, .. } = failure else { return false };
        let about = |words: &str, field: &str| said.contains(words) && sent.get(field).is_some();
        if about("max_completion_tokens", "max_tokens") {
            self.says_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        if about("stream_options", "stream_options") {
            self.leaves_stream_options_out.store(true, Ordering::Relaxed);
            return true;
        }
        let format = about("response_format", "response_format");
        if format {
            self.leaves_format_out.store(true, Ordering::Relaxed);
        }
        format
    }

    fn read(&self, answer: &Value, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        let said = |place: &str| answer.pointer(place).and_then(Value::as_str);
        if let Some(refusal) = said("/choices/0/message/refusal").filter(|it| !it.is_empty()) {
            return Err(ModelFailure::Refused { said: self.http.short(refusal) });
        }
        match said("/choices/0/finish_reason") {
            Some("length") => {
                return Err(ModelFailure::Truncated { tokens_max: prompt.tokens_max });
            }
            Some("content_filter") => {
                return Err(ModelFailure::Refused { said: "content_filter".to_owned() });
            }
            // Some endpoints omit it; a truncated text shows when it is parsed.
            _ => {}
        }
        let text = said("/choices/0/message/content").filter(|text| !text.trim().is_empty());
        let Some(text) = text else {
            return Err(ModelFailure::Malformed { said: "it contains no text".to_owned() });
        };
        let used = |place: &str| answer.pointer(place).and_then(Value::as_u64);
        Ok(Completion {
            text: text.to_owned(),
            input_tokens: used("/usage/prompt_tokens")
                .unwrap_or_else(|| budget_tokens(&prompt.system) + budget_tokens(&prompt.user)),
            output_tokens: used("/usage/completion_tokens").unwrap_or_else(|| budget_tokens(text)),
        })
    }
}

impl LanguageModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        let headers = [("authorization", "Bearer {key}")];
        loop {
            let body = self.body(prompt);
            match self.http.post(&headers, &body) {
                Ok(answer) => return self.read(&answer, prompt),
                // A rejected field is never sent again, so this terminates.
                Err(failure) if self.learns_from(&failure, &body) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}
