//! Settings of the chat model and of reflections.

use std::time::Duration;

use tome_llm::Prices;

use super::duration;

/// The chat model, used by `tome chat` and for reflections.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    /// `None` if not set: then the summarizer's endpoint is used, if it has one.
    pub provider: Option<ChatProvider>,
    pub model: String,
    /// Empty for the vendor's default.
    pub base_url: String,
    /// Environment variable with the API key; empty for the vendor's default.
    pub key_env: String,
    /// File with the API key, instead of a variable; empty for none.
    pub key_file: String,
    /// Maximum time without output from the model.
    pub timeout: Duration,
    /// Context window.
    pub window_tokens: u64,
    /// Token prices, as far as configured.
    pub prices: Prices,
}

/// When the daemon reflects on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReflectSettings {
    pub enabled: bool,
    /// A session without an end event counts as over after this idle time; `None` for never.
    pub idle: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatProvider {
    /// No chat model, even if the summarizer has an endpoint.
    Disabled,
    Anthropic,
    /// Any endpoint with OpenAI's chat completions API.
    OpenAi,
}

/// Parses the provider; `None` where none is set.
pub fn parse_provider(text: &str) -> Result<Option<ChatProvider>, String> {
    match text {
        "" => Ok(None),
        "none" => Ok(Some(ChatProvider::Disabled)),
        "anthropic" => Ok(Some(ChatProvider::Anthropic)),
        "openai" => Ok(Some(ChatProvider::OpenAi)),
        _ => Err(format!("{text:?} is unknown: use anthropic, openai or none")),
    }
}

/// Parses the price of a million tokens; `None` where none is set.
pub fn parse_price(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(Some(price)),
        _ => Err(format!(
            "{text:?} is not a price per million tokens: use a number such as 3 or 0.25"
        )),
    }
}

pub(super) fn chat_settings<'c>(text: &impl Fn(&'static str) -> &'c str) -> ChatSettings {
    let price_of = |name| parse_price(text(name)).ok().flatten();
    ChatSettings {
        provider: parse_provider(text("chat.provider")).ok().flatten(),
        model: text("chat.model").to_owned(),
        base_url: text("chat.base_url").to_owned(),
        key_env: text("chat.key_env").to_owned(),
        key_file: text("chat.key_file").to_owned(),
        timeout: duration::parse_finite(text("chat.timeout")).unwrap_or(Duration::from_secs(120)),
        window_tokens: text("chat.window_tokens").parse().unwrap_or(100_000),
        prices: Prices {
            input: price_of("chat.price_input"),
            output: price_of("chat.price_output"),
            cache_read: price_of("chat.price_cache_read"),
            cache_write: price_of("chat.price_cache_write"),
        },
    }
}
