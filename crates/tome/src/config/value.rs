//! The types of settings: their names in the reference, validation and parsing.

use std::fmt;
use std::net::SocketAddr;

use tome_engine::Toolsets;
use tome_home::StoreMode;
use tome_ledger::StorageEngine;
use tome_model::Zone;

use super::{chat, duration};
use crate::capture_rules::IgnoredPaths;

#[derive(Clone, Copy)]
pub enum ValueType {
    /// A whole number of `unit`, from `min` to `max` inclusive.
    Integer {
        /// In the plural.
        unit: &'static str,
        min: u64,
        max: u64,
    },
    Parsed {
        /// Name in the reference; literal values are in backticks.
        name: &'static str,
        check: fn(&str) -> Result<(), String>,
    },
}

impl ValueType {
    /// Validates a value; the error describes the problem.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match *self {
            Self::Parsed { check, .. } => check(text),
            Self::Integer { unit, min, max } => match text.parse::<u64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(()),
                _ if max == u64::MAX => {
                    Err(format!("{text:?} is not valid: use a number of {unit}, at least {min}"))
                }
                _ => Err(format!(
                    "{text:?} is not valid: use a number of {unit} from {min} to {max}"
                )),
            },
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Parsed { name, .. } => f.write_str(name),
            Self::Integer { unit, min, max: u64::MAX } => write!(f, "{unit}, at least {min}"),
            Self::Integer { unit, min, max } => write!(f, "{unit}, {min} to {max}"),
        }
    }
}

/// Smaller segments would hold only a line or two.
pub const SEGMENT_TOKENS_MIN: u64 = 100;
/// Prompt, tools and notes alone would fill a smaller context window.
pub const WINDOW_TOKENS_MIN: u64 = 8_000;
/// More than any context window or daily budget needs.
pub const TOKENS_MAX: u64 = 1_000_000;
/// More than any embedding model uses.
pub const DIMENSIONS_MAX: u64 = 16_384;
/// Higher thresholds would never be reached.
pub const COUNT_MAX: u64 = 10_000;

pub const TEXT: ValueType = ValueType::Parsed { name: "text", check: |_| Ok(()) };
pub const BOOLEAN: ValueType =
    ValueType::Parsed { name: "boolean", check: |text| parse_boolean(text).map(drop) };
pub const DURATION: ValueType =
    ValueType::Parsed { name: "duration", check: |text| duration::parse_finite(text).map(drop) };
pub const DURATION_OR_NEVER: ValueType = ValueType::Parsed {
    name: "duration or `never`",
    check: |text| duration::parse(text).map(drop),
};
pub const TOKENS: ValueType = ValueType::Integer { unit: "tokens", min: 0, max: TOKENS_MAX };
pub const ADDRESS: ValueType =
    ValueType::Parsed { name: "port or host:port", check: |text| parse_address(text).map(drop) };
pub const STORE_MODE: ValueType = ValueType::Parsed {
    name: "`per-project` or `unified`",
    check: |text| text.parse::<StoreMode>().map(drop).map_err(|error| error.to_string()),
};
pub const STORE_ENGINE: ValueType =
    ValueType::Parsed { name: "`fjall` or `rocksdb`", check: |text| parse_engine(text).map(drop) };
pub const FILE_NAMES: ValueType = ValueType::Parsed {
    name: "list of file names",
    check: |text| parse_fact_names(text).map(drop),
};
pub const PATTERNS: ValueType =
    ValueType::Parsed { name: "list of patterns", check: IgnoredPaths::check };
pub const TIME_ZONE: ValueType = ValueType::Parsed {
    name: "`system`, or a name such as `Europe/Berlin`",
    check: |text| parse_zone(text).map(drop),
};
pub const KEY_FILE: ValueType = ValueType::Parsed { name: "path", check: check_key_file };
pub const PRICE: ValueType =
    ValueType::Parsed { name: "number", check: |text| chat::parse_price(text).map(drop) };
pub const SUMMARIZER_KIND: ValueType = ValueType::Parsed {
    name: "`extractive`, `anthropic`, `openai` or `command`",
    check: |text| parse_summarizer_kind(text).map(drop),
};
pub const CHAT_PROVIDER: ValueType = ValueType::Parsed {
    name: "`anthropic`, `openai`, `none` or empty",
    check: |text| chat::parse_provider(text).map(drop),
};
pub const EMBED_PROVIDER: ValueType = ValueType::Parsed {
    name: "`builtin` or `openai`",
    check: |text| parse_embed_provider(text).map(drop),
};
pub const TOOLSETS: ValueType = ValueType::Parsed {
    name: "list of `core`, `recall`, `notes`, `coder`, `contents`, `topics`, `anthropic`, `all`, `read-only`",
    check: |text| Toolsets::parse(text).map(drop),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedProvider {
    /// The model embedded in the binary.
    Builtin,
    /// Any endpoint with OpenAI's embeddings API.
    OpenAi,
}

pub fn parse_embed_provider(text: &str) -> Result<EmbedProvider, String> {
    match text {
        "builtin" => Ok(EmbedProvider::Builtin),
        "openai" => Ok(EmbedProvider::OpenAi),
        _ => Err(format!("{text:?} is unknown: use builtin or openai")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizerKind {
    /// Only the built-in summarizer.
    Extractive,
    Anthropic,
    /// Any endpoint with OpenAI's chat completions API.
    OpenAi,
    Command,
}

pub fn parse_summarizer_kind(text: &str) -> Result<SummarizerKind, String> {
    match text {
        "extractive" => Ok(SummarizerKind::Extractive),
        "anthropic" => Ok(SummarizerKind::Anthropic),
        "openai" => Ok(SummarizerKind::OpenAi),
        "command" => Ok(SummarizerKind::Command),
        _ => Err(format!("{text:?} is unknown: use extractive, anthropic, openai or command")),
    }
}

/// Checks only the path's form; the file is checked when the key is needed.
fn check_key_file(text: &str) -> Result<(), String> {
    if text.starts_with('~') {
        Err("~ is not expanded: use the full path".to_owned())
    } else {
        Ok(())
    }
}

pub fn parse_zone(text: &str) -> Result<Zone, String> {
    Zone::parse(text).map_err(|error| error.to_string())
}

/// Parses a storage engine that this build includes.
pub fn parse_engine(text: &str) -> Result<StorageEngine, String> {
    match StorageEngine::from_name(text) {
        Some(engine) if StorageEngine::AVAILABLE.contains(&engine) => Ok(engine),
        Some(_) => Err(format!("this build does not include {text}: build with --features {text}")),
        None => Err(format!("{text:?} is unknown: use fjall or rocksdb")),
    }
}

pub fn parse_boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("{text:?} is not valid: use on or off")),
    }
}

/// Parses a loopback port or host:port; `None` if empty.
pub fn parse_address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(Some(SocketAddr::from(([127, 0, 0, 1], port))));
    }
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = named.as_deref().unwrap_or(text).parse();
    parsed.map(Some).map_err(|_| {
        format!("{text:?} is not an address: use a port such as 7427, or 127.0.0.1:7427")
    })
}

/// Parses comma-separated file names; `None` if empty, which allows any.
pub fn parse_fact_names(text: &str) -> Result<Option<Vec<String>>, String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    match names.iter().find(|name| name.contains(['/', '\\']) || !name.ends_with(".md")) {
        Some(name) => Err(format!(
            "{name:?} is not the name of a fact file: use comma-separated names such as user.md"
        )),
        None => Ok(Some(names).filter(|names| !names.is_empty())),
    }
}
