//! The interface for single prompts without tools.

use std::sync::Arc;

use crate::ModelFailure;

/// Completes prompts. A call blocks until the answer is complete or the timeout expires.
pub trait LanguageModel: Send + Sync {
    /// The model's name, stored with its output: `anthropic/claude-…`, `openai/…`, `command/…`.
    fn name(&self) -> &str;
    /// Completes one prompt.
    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure>;
}

/// A single prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionRequest {
    /// The system prompt: the task.
    pub system: String,
    /// The user message: the input.
    pub user: String,
    /// Maximum tokens of the answer.
    pub tokens_max: u32,
    /// Whether the answer must be a JSON object; passed to the endpoint if its protocol supports it.
    pub json: bool,
}

/// The answer to a single prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// The text of the answer.
    pub text: String,
    /// Input tokens, as reported by the endpoint or estimated.
    pub input_tokens: u64,
    /// Output tokens, as reported or estimated.
    pub output_tokens: u64,
}

impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        (**self).complete(prompt)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        (**self).complete(prompt)
    }
}
