//! Which model a chat talks to.

use std::sync::Arc;

use anyhow::Result;
use tome_llm::ChatModel;

use super::offline::Offline;
use crate::cli::chat::Chat;
use crate::command::{Context, Refusal};

/// A model, and what is known of it.
pub struct Chosen {
    pub model: Arc<dyn ChatModel>,
    /// Request and reply together.
    pub window_tokens: Option<u64>,
}

pub fn choose(context: &Context, asked: &Chat) -> Result<Chosen> {
    if asked.offline {
        return Ok(Chosen { model: Arc::new(Offline), window_tokens: None });
    }
    let _ = context;
    Err(unset())
}

fn unset() -> anyhow::Error {
    Refusal::bad_input("no model is configured to chat with").hint(UNSET).into()
}

const UNSET: &str = "choose one:

  Anthropic        export ANTHROPIC_API_KEY=…
                   tome config set chat.provider anthropic
                   tome config set chat.model claude-sonnet-4-5
  OpenAI           export OPENAI_API_KEY=…
                   tome config set chat.provider openai
                   tome config set chat.model gpt-5
  Ollama and other compatible endpoints, on this machine or elsewhere
                   tome config set chat.provider openai
                   tome config set chat.base_url http://127.0.0.1:11434/v1
                   tome config set chat.model qwen3
  no model at all  tome chat --offline      a built-in script that shows how memory works";
