//! The settings of the conversation model, and of reflecting with it.

use std::time::Duration;

use tome_llm::Prices;

use super::{duration, value};

/// The model that takes part in conversations: in `tome chat`, and when the daemon reflects.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    /// Who; nobody has said: the summarizer's endpoint, where it has one.
    pub provider: Option<ChatProvider>,
    /// Which model.
    pub model: String,
    /// Where it answers; empty for the vendor's own.
    pub base_url: String,
    /// The variable that holds its key; empty for the vendor's own.
    pub key_env: String,
    /// The file that holds its key, instead of a variable; empty for none.
    pub key_file: String,
    /// No silence of the model is longer.
    pub timeout: Duration,
    /// What it can read at once.
    pub window_tokens: u64,
    /// What its tokens cost, as far as somebody has said.
    pub prices: Prices,
}

/// When the daemon reflects on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReflectSettings {
    /// Whether it does.
    pub enabled: bool,
    /// A session that says no goodbye is over after so long a silence; `None` for never.
    pub idle: Option<Duration>,
}

/// Who takes part in conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatProvider {
    /// Nobody, whatever the summarizer has.
    Nobody,
    /// Anthropic's Messages API.
    Anthropic,
    /// Chat completions, by whoever offers them.
    OpenAi,
}

/// Parses the provider; `None` where none is set.
pub fn parse_provider(text: &str) -> Result<Option<ChatProvider>, String> {
    match text {
        "" => Ok(None),
        "none" => Ok(Some(ChatProvider::Nobody)),
        "anthropic" => Ok(Some(ChatProvider::Anthropic)),
        "openai" => Ok(Some(ChatProvider::OpenAi)),
        _ => Err(format!("{text:?} is not known: use anthropic, openai or none")),
    }
}

/// Parses the price of a million tokens; `None` where none is set.
pub fn parse_price(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(Some(price)),
        _ => Err(format!("{text:?} is not the price of a million tokens, such as 3 or 0.25")),
    }
}

/// The conversation model that is configured.
pub(super) fn chat<'c>(text: &impl Fn(&'static str) -> &'c str) -> ChatSettings {
    let price_of = |name| parse_price(text(name)).ok().flatten();
    ChatSettings {
        provider: parse_provider(text("chat.provider")).ok().flatten(),
        model: text("chat.model").to_owned(),
        base_url: text("chat.base_url").to_owned(),
        key_env: text("chat.key_env").to_owned(),
        key_file: text("chat.key_file").to_owned(),
        timeout: value::parse_finite_duration(text("chat.timeout"))
            .unwrap_or(Duration::from_secs(120)),
        window_tokens: text("chat.window_tokens").parse().unwrap_or(100_000),
        prices: Prices {
            input: price_of("chat.price_input"),
            output: price_of("chat.price_output"),
            cache_read: price_of("chat.price_cache_read"),
            cache_write: price_of("chat.price_cache_write"),
        },
    }
}

/// When the daemon reflects.
pub(super) fn reflect<'c>(text: &impl Fn(&'static str) -> &'c str) -> ReflectSettings {
    ReflectSettings {
        enabled: value::parse_boolean(text("reflect.enabled")).unwrap_or(true),
        idle: duration::parse(text("reflect.idle")).unwrap_or(Some(Duration::from_secs(1_800))),
    }
}
