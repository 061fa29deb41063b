//! A scripted model, for tests.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tome_text::estimate_tokens_conservatively;

use crate::{Completion, CompletionRequest, LanguageModel, ModelFailure};

/// Answers in the order of its script and records the prompts.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    script: Mutex<VecDeque<Result<String, ModelFailure>>>,
    requests: Mutex<Vec<CompletionRequest>>,
}

impl ScriptedModel {
    /// Creates a model with these answers. After the last one it is unreachable.
    pub fn new(answers: impl IntoIterator<Item = Result<String, ModelFailure>>) -> Self {
        Self { script: Mutex::new(answers.into_iter().collect()), requests: Mutex::default() }
    }

    /// The prompts received, in order.
    pub fn requests(&self) -> Vec<CompletionRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete(&self, prompt: &CompletionRequest) -> Result<Completion, ModelFailure> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(prompt.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let text = next.unwrap_or_else(|| {
            Err(ModelFailure::Unreachable { message: "the script is over".to_owned() })
        })?;
        Ok(Completion {
            input_tokens: estimate_tokens_conservatively(&prompt.system)
                + estimate_tokens_conservatively(&prompt.user),
            output_tokens: estimate_tokens_conservatively(&text),
            text,
        })
    }
}
