//! The table of all settings, from which loading, validation, `tome config` and
//! `docs/configuration.md` are derived.

use tome_model::limits;

use super::value::{
    ADDRESS, BOOLEAN, CHAT_PROVIDER, COUNT_MAX, DIMENSIONS_MAX, DURATION, DURATION_OR_NEVER,
    EMBED_PROVIDER, FILE_NAMES, KEY_FILE, PRICE, SEGMENT_TOKENS_MIN, STORE_ENGINE, STORE_MODE,
    SUMMARIZER_KIND, TEXT, TIME_ZONE, TOKENS, TOKENS_MAX, TOOLSETS, ValueType, WINDOW_TOKENS_MIN,
};
use crate::mcp::TOOLSETS_DEFAULT;

pub struct Key {
    /// `section.name`, as in the config file.
    pub name: &'static str,
    pub default: &'static str,
    pub value: ValueType,
    pub about: &'static str,
}

impl Key {
    /// The environment variable that sets it: `TOME_SECTION_NAME`.
    pub fn variable(&self) -> String {
        format!("TOME_{}", self.name.replace('.', "_").to_uppercase())
    }
}

/// All settings, in display order.
pub const KEYS: &[Key] = &[
    Key {
        name: "store.mode",
        default: "per-project",
        value: STORE_MODE,
        about: "keep one ledger per project (per-project) or a single ledger for all of them (unified)",
    },
    Key {
        name: "store.engine",
        default: "fjall",
        value: STORE_ENGINE,
        about: "storage engine of new stores; rocksdb needs a build with that feature",
    },
    Key {
        name: "store.idle_close",
        default: "5m",
        value: DURATION_OR_NEVER,
        about: "close a store that has not been used for this long",
    },
    Key {
        name: "daemon.idle_exit",
        default: "30m",
        value: DURATION_OR_NEVER,
        about: "stop the daemon after it has been idle for this long",
    },
    Key {
        name: "daemon.autostart",
        default: "true",
        value: BOOLEAN,
        about: "let clients and hooks start the daemon when it is not running",
    },
    Key {
        name: "daemon.tcp",
        default: "",
        value: ADDRESS,
        about: "also listen on TCP: a port on loopback, or host:port; callers need the token in run/token",
    },
    Key {
        name: "daemon.endpoint",
        default: "",
        value: ADDRESS,
        about: "connect to the daemon over TCP at this address instead of the local socket",
    },
    Key {
        name: "capture.text_max_bytes",
        default: "262144",
        value: ValueType::Integer {
            unit: "bytes",
            min: 4096,
            max: limits::TEXT_BYTES_CEILING as u64,
        },
        about: "maximum size of an event's text, tool input and tool output, each; longer ones keep their beginning and end",
    },
    Key {
        name: "capture.transcripts",
        default: "on",
        value: BOOLEAN,
        about: "when a session ends or falls silent, read the agent's own transcript and store what the hooks missed",
    },
    Key {
        name: "capture.transcripts_idle",
        default: "60s",
        value: DURATION,
        about: "how long a session that has not ended must be silent before its transcript is read",
    },
    Key {
        name: "notes.facts_max_bytes",
        default: "15360",
        value: ValueType::Integer { unit: "bytes", min: 1, max: u64::MAX },
        about: "maximum size of all files in facts/ of a notebook together",
    },
    Key {
        name: "notes.facts_allowed",
        default: "",
        value: FILE_NAMES,
        about: "the only file names allowed in facts/, such as user.md,memory.md; empty allows any",
    },
    Key {
        name: "contents.zone",
        default: "system",
        value: TIME_ZONE,
        about: "time zone in which days begin and end",
    },
    Key {
        name: "contents.gap",
        default: "30m",
        value: DURATION,
        about: "a longer pause begins a new segment of a session",
    },
    Key {
        name: "contents.segment_tokens",
        default: "4000",
        value: ValueType::Integer { unit: "tokens", min: SEGMENT_TOKENS_MIN, max: TOKENS_MAX },
        about: "maximum size of a segment, unless a single event is larger",
    },
    Key {
        name: "contents.overlap",
        default: "5m",
        value: DURATION,
        about: "how much of the end of the previous segment the summarizer sees as context",
    },
    Key {
        name: "contents.overlap_tokens",
        default: "500",
        value: TOKENS,
        about: "maximum size of that overlap",
    },
    Key {
        name: "summarizer.kind",
        default: "extractive",
        value: SUMMARIZER_KIND,
        about: "who summarizes closed nodes of the contents: the built-in extractive summarizer alone, or also a model: anthropic, openai (any compatible endpoint, such as Ollama) or a command",
    },
    Key {
        name: "summarizer.model",
        default: "",
        value: TEXT,
        about: "model name, for anthropic and openai",
    },
    Key {
        name: "summarizer.base_url",
        default: "",
        value: TEXT,
        about: "URL of the model's endpoint; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    Key {
        name: "summarizer.key_env",
        default: "",
        value: TEXT,
        about: "environment variable that holds the API key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
    },
    Key {
        name: "summarizer.key_file",
        default: "",
        value: KEY_FILE,
        about: "file that holds nothing but the API key, instead of an environment variable; it must be readable by its owner alone (chmod 600), and a relative path begins in Tome's home",
    },
    Key {
        name: "summarizer.command",
        default: "",
        value: TEXT,
        about: "shell command that reads a prompt on standard input and prints an answer, such as claude -p",
    },
    Key {
        name: "summarizer.daily_tokens",
        default: "200000",
        value: TOKENS,
        about: "daily token budget, input and output together, shared by the summarizer, tome chat and reflections",
    },
    Key {
        name: "summarizer.timeout",
        default: "60s",
        value: DURATION,
        about: "maximum duration of a call to the model",
    },
    Key {
        name: "chat.provider",
        default: "",
        value: CHAT_PROVIDER,
        about: "model provider for tome chat and for reflections: anthropic, openai (any compatible endpoint, such as Ollama) or none; empty uses the summarizer's if that is anthropic or openai",
    },
    Key {
        name: "chat.model",
        default: "",
        value: TEXT,
        about: "model name; with the summarizer's endpoint, another model there",
    },
    Key {
        name: "chat.base_url",
        default: "",
        value: TEXT,
        about: "URL of the model's endpoint; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    Key {
        name: "chat.key_env",
        default: "",
        value: TEXT,
        about: "environment variable that holds the API key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
    },
    Key {
        name: "chat.key_file",
        default: "",
        value: KEY_FILE,
        about: "file that holds nothing but the API key, instead of an environment variable; as summarizer.key_file",
    },
    Key {
        name: "chat.timeout",
        default: "120s",
        value: DURATION,
        about: "maximum time without output from the model",
    },
    Key {
        name: "chat.window_tokens",
        default: "100000",
        value: ValueType::Integer { unit: "tokens", min: WINDOW_TOKENS_MIN, max: TOKENS_MAX },
        about: "context window of the model",
    },
    Key {
        name: "chat.price_input",
        default: "",
        value: PRICE,
        about: "price of a million input tokens, for showing costs; empty if not known",
    },
    Key {
        name: "chat.price_output",
        default: "",
        value: PRICE,
        about: "price of a million output tokens",
    },
    Key {
        name: "chat.price_cache_read",
        default: "",
        value: PRICE,
        about: "price of a million input tokens read from the provider's cache; empty: as input",
    },
    Key {
        name: "chat.price_cache_write",
        default: "",
        value: PRICE,
        about: "price of a million input tokens written to the provider's cache; empty: as input",
    },
    Key {
        name: "reflect.enabled",
        default: "on",
        value: BOOLEAN,
        about: "when a session of any agent ends or is compacted, the chat model writes down what later sessions should know, as facts and episodes; nothing happens without a model",
    },
    Key {
        name: "reflect.idle",
        default: "30m",
        value: DURATION_OR_NEVER,
        about: "a session that does not report its end counts as over after this long a silence",
    },
    Key {
        name: "embed.provider",
        default: "builtin",
        value: EMBED_PROVIDER,
        about: "who computes vectors for recall: builtin (nothing leaves this machine), or openai (any compatible endpoint, which is sent the texts of events, notes and queries, with secrets redacted)",
    },
    Key {
        name: "embed.model",
        default: "",
        value: TEXT,
        about: "name of the embedding model at the endpoint; after a change all vectors are computed again, in the background",
    },
    Key {
        name: "embed.dimensions",
        default: "0",
        value: ValueType::Integer { unit: "dimensions", min: 0, max: DIMENSIONS_MAX },
        about: "length of a vector of that model, such as 768; needed for openai",
    },
    Key {
        name: "embed.base_url",
        default: "",
        value: TEXT,
        about: "URL of the endpoint; empty for OpenAI's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    Key {
        name: "embed.key_env",
        default: "",
        value: TEXT,
        about: "environment variable that holds the endpoint's API key; empty for OPENAI_API_KEY",
    },
    Key {
        name: "embed.timeout",
        default: "30s",
        value: DURATION,
        about: "maximum duration of a call that embeds stored texts",
    },
    Key {
        name: "embed.question_timeout",
        default: "1s",
        value: DURATION,
        about: "how long a query waits for its vector; after that it is answered without vectors",
    },
    Key {
        name: "mcp.toolsets",
        default: TOOLSETS_DEFAULT,
        value: TOOLSETS,
        about: "tools that tome mcp offers; read-only leaves out those that change something",
    },
    Key {
        name: "inject.enabled",
        default: "on",
        value: BOOLEAN,
        about: "whether hooks add anything to an agent's context; off records only",
    },
    Key {
        name: "inject.start",
        default: "on",
        value: BOOLEAN,
        about: "at the start of a session and after a compaction, add what is known and where the last session stopped",
    },
    Key {
        name: "inject.hints",
        default: "on",
        value: BOOLEAN,
        about: "at a prompt, add up to three cited hints if memory has something relevant",
    },
    Key {
        name: "inject.plan",
        default: "on",
        value: BOOLEAN,
        about: "at a longer plan, add lessons from earlier work that apply to it",
    },
    Key {
        name: "inject.store",
        default: "on",
        value: BOOLEAN,
        about: "at a stop after substantial work, ask the agent once to store what was learned",
    },
    Key {
        name: "inject.overview",
        default: "on",
        value: BOOLEAN,
        about: "remind the agent when the session's overview has not been updated for long",
    },
    Key {
        name: "inject.headless",
        default: "off",
        value: BOOLEAN,
        about: "also send lessons for a plan, requests to store and reminders to headless runs (claude -p, codex exec, gemini -p, copilot -p); they can change the output of the run",
    },
    Key {
        name: "inject.budget_tokens",
        default: "2000",
        value: TOKENS,
        about: "maximum size of the text added at the start of a session",
    },
    Key {
        name: "inject.plan_steps",
        default: "5",
        value: ValueType::Integer { unit: "steps", min: 1, max: COUNT_MAX },
        about: "a plan with more steps counts as a longer plan",
    },
    Key {
        name: "inject.store_tool_calls",
        default: "10",
        value: ValueType::Integer { unit: "tool calls", min: 1, max: COUNT_MAX },
        about: "this many tool calls, at least one of them an edit, count as substantial work",
    },
    Key {
        name: "inject.overview_rounds",
        default: "10",
        value: ValueType::Integer { unit: "rounds", min: 1, max: COUNT_MAX },
        about: "rounds without an update of the overview before the first reminder; later intervals adapt, between 5 and 30",
    },
];
