//! Chooses the model of a chat: the configured one, another one at the same endpoint, or the
//! built-in script.

use std::sync::Arc;

use anyhow::Result;
use tome_llm::{ChatModel, ModelFailure, Prices, Stop};
use tome_model::{Clock, SystemClock};

use super::offline::Offline;
use super::trouble::Trouble;
use crate::cli::chat::Chat;
use crate::command::{Context, Refusal};
use crate::model::{DaemonBudget, Sections, chat_model};

pub struct Chosen {
    pub model: Arc<dyn ChatModel>,
    /// Context window: request and reply together.
    pub window_tokens: u64,
    pub prices: Prices,
    /// Where its settings come from.
    pub sections: Sections,
}

pub fn choose(context: &Context, asked: &Chat) -> Result<Chosen> {
    let mut settings = context.settings.clone();
    let (window_tokens, prices) = (settings.chat.window_tokens, settings.chat.prices);
    let sections = Sections::of(&settings);
    if asked.offline {
        let model: Arc<dyn ChatModel> = Arc::new(Offline);
        return Ok(Chosen { model, window_tokens, prices: Prices::default(), sections });
    }
    if let Some(model) = &asked.model {
        settings.chat.model.clone_from(model);
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let budget = DaemonBudget(context.reach.clone());
    match chat_model(&settings, budget, &clock, &Stop::default()) {
        Ok(Some(model)) => Ok(Chosen { model, window_tokens, prices, sections }),
        Ok(None) => Err(Refusal::bad_input("no chat model is configured").hint(UNSET).into()),
        Err(failure) => Err(unfit(&failure, sections)),
    }
}

fn unfit(failure: &ModelFailure, sections: Sections) -> anyhow::Error {
    let trouble = Trouble::of_model(failure, sections);
    Refusal::bad_input(trouble.said).hint(trouble.hint).into()
}

const UNSET: &str = "choose one

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
