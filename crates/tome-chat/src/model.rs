//! Chooses the model of a chat: the configured one, another one at the same endpoint, or the
//! built-in script.

use std::sync::Arc;

use anyhow::Result;
use tome_llm::{ChatModel, ModelFailure, Prices};
use tome_terminal::CommandError;

use crate::args::ChatArgs;
use crate::offline::OfflineModel;
use crate::setup::{ChatSetup, ModelSections};
use crate::user_error::UserError;

pub struct ChosenModel {
    pub model: Arc<dyn ChatModel>,
    /// Context window: request and reply together.
    pub window_tokens: u64,
    pub prices: Prices,
    /// Where its settings come from.
    pub sections: ModelSections,
}

pub fn choose_model(setup: &ChatSetup<'_>, args: &ChatArgs) -> Result<ChosenModel> {
    let (window_tokens, prices, sections) = (setup.window_tokens, setup.prices, setup.sections);
    if args.offline {
        let model: Arc<dyn ChatModel> = Arc::new(OfflineModel);
        return Ok(ChosenModel { model, window_tokens, prices: Prices::default(), sections });
    }
    match (setup.build_model)(args.model.as_deref()) {
        Ok(Some(model)) => Ok(ChosenModel { model, window_tokens, prices, sections }),
        Ok(None) => Err(CommandError::bad_input("no chat model is configured")
            .with_hint(NO_MODEL_HINT)
            .into()),
        Err(failure) => Err(misconfigured_error(&failure, sections)),
    }
}

fn misconfigured_error(failure: &ModelFailure, sections: ModelSections) -> anyhow::Error {
    let trouble = UserError::from_model_failure(failure, sections);
    CommandError::bad_input(trouble.message).with_hint(trouble.hint).into()
}

const NO_MODEL_HINT: &str = "choose one

  Anthropic         tome config set chat.provider anthropic
                    tome config set chat.model claude-sonnet-4-5
                    the key in ANTHROPIC_API_KEY, or in a file: tome config set chat.key_file FILE
  OpenAI            tome config set chat.provider openai
                    tome config set chat.model gpt-5
                    the key in OPENAI_API_KEY, or in a file as above
  Ollama, or any    tome config set chat.provider openai
  compatible one    tome config set chat.base_url http://127.0.0.1:11434/v1
                    tome config set chat.model qwen3
  no model at all   tome chat --offline
                    a built-in script that demonstrates the memory; nothing leaves this machine";
