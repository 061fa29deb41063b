//! What a language model is, what it is asked and what it answers.

use std::sync::Arc;

use crate::ModelFailure;

/// Answers prompts. A call blocks until the answer is there or its time is up.
pub trait LanguageModel: Send + Sync {
    /// Its name, kept with what it makes: `anthropic/claude-…`, `openai/…`, `command/…`.
    fn name(&self) -> &str;
    /// Answers one prompt.
    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure>;
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// What the model is to do.
    pub system: String,
    /// What it is to do it with.
    pub user: String,
    /// The answer may have so many tokens.
    pub tokens_max: u32,
    /// The answer is to be one JSON object; asked of the endpoint where its protocol can say so.
    pub json: bool,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// What the model said.
    pub text: String,
    /// What the prompt cost: as the endpoint says, or about.
    pub input_tokens: u64,
    /// What the answer cost.
    pub output_tokens: u64,
}

impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        (**self).complete(prompt)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelFailure> {
        (**self).complete(prompt)
    }
}
