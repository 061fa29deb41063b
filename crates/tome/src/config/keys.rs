//! The table of all settings, from which validation, `tome config` and `docs/configuration.md` are derived.
//!
//! A new setting needs a row here, a field in `mod.rs`, and its reading in `load.rs`. A setting of `inject.*` also
//! needs a field in `injection.proto`, and its passing on in `../hook/injection_request.rs` and
//! `../daemon/injection/request.rs`.

use tome_engine::DEFAULT_TOOLSET;
use tome_model::limits;

use super::value::{
    ADDRESS, BOOLEAN, CHAT_PROVIDER, COUNT_MAX, DIMENSIONS_MAX, DURATION, DURATION_OR_NEVER,
    EMBED_PROVIDER, FILE_NAMES, KEY_FILE, PATTERNS, PRICE, SEGMENT_TOKENS_MIN, STORE_ENGINE,
    STORE_MODE, SUMMARIZER_KIND, TEXT, TIME_ZONE, TOKENS, TOKENS_MAX, TOOLSETS, ValueType,
    WINDOW_TOKENS_MIN,
};

pub struct SettingKey {
    /// `section.name`, as in the config file.
    pub name: &'static str,
    pub default: &'static str,
    pub value_type: ValueType,
    pub description: &'static str,
}

impl SettingKey {
    /// The environment variable that sets it: `TOME_SECTION_NAME`.
    pub fn env_variable(&self) -> String {
        format!("TOME_{}", self.name.replace('.', "_").to_uppercase())
    }
}

/// All settings, in display order.
pub const SETTING_KEYS: &[SettingKey] = &[
    SettingKey {
        name: "store.mode",
        default: "per-project",
        value_type: STORE_MODE,
        description: "keep one ledger per project (per-project) or a single ledger for all of them (unified)",
    },
    SettingKey {
        name: "store.engine",
        default: "fjall",
        value_type: STORE_ENGINE,
        description: "storage engine of new stores; rocksdb needs a build with that feature",
    },
    SettingKey {
        name: "store.idle_close",
        default: "5m",
        value_type: DURATION_OR_NEVER,
        description: "close a store that has not been used for this long",
    },
    SettingKey {
        name: "daemon.idle_exit",
        default: "30m",
        value_type: DURATION_OR_NEVER,
        description: "stop the daemon after it has been idle for this long, or once it has no work and holds over 40 MB",
    },
    SettingKey {
        name: "daemon.autostart",
        default: "true",
        value_type: BOOLEAN,
        description: "let clients and hooks start the daemon when it is not running",
    },
    SettingKey {
        name: "daemon.tcp",
        default: "",
        value_type: ADDRESS,
        description: "also listen on TCP: a port on loopback, or host:port; callers need the token in run/token",
    },
    SettingKey {
        name: "daemon.endpoint",
        default: "",
        value_type: ADDRESS,
        description: "connect to the daemon over TCP at this address instead of the local socket",
    },
    SettingKey {
        name: "capture.text_max_bytes",
        default: "262144",
        value_type: ValueType::Integer {
            unit: "bytes",
            min: 4096,
            max: limits::TEXT_BYTES_CEILING as u64,
        },
        description: "maximum size of an event's text, tool input and tool output, each; longer ones keep their beginning and end",
    },
    SettingKey {
        name: "capture.ignore",
        default: "",
        value_type: PATTERNS,
        description: "paths that are not recorded, as in .gitignore, such as ~/private/,*.pem: nothing from sessions in an ignored folder, and no content of ignored files; a project can list more in .tomeignore",
    },
    SettingKey {
        name: "capture.transcripts",
        default: "on",
        value_type: BOOLEAN,
        description: "when a session ends or falls silent, read the agent's own transcript and store what the hooks missed",
    },
    SettingKey {
        name: "capture.transcripts_idle",
        default: "60s",
        value_type: DURATION,
        description: "how long a session that has not ended must be silent before its transcript is read",
    },
    SettingKey {
        name: "notes.facts_max_bytes",
        default: "15360",
        value_type: ValueType::Integer { unit: "bytes", min: 1, max: u64::MAX },
        description: "maximum size of all files in facts/ of a notebook together",
    },
    SettingKey {
        name: "notes.facts_allowed",
        default: "",
        value_type: FILE_NAMES,
        description: "the only file names allowed in facts/, such as user.md,memory.md; empty allows any",
    },
    SettingKey {
        name: "contents.zone",
        default: "system",
        value_type: TIME_ZONE,
        description: "time zone in which days begin and end",
    },
    SettingKey {
        name: "contents.gap",
        default: "30m",
        value_type: DURATION,
        description: "a longer pause begins a new segment of a session",
    },
    SettingKey {
        name: "contents.segment_tokens",
        default: "4000",
        value_type: ValueType::Integer { unit: "tokens", min: SEGMENT_TOKENS_MIN, max: TOKENS_MAX },
        description: "maximum size of a segment, unless a single event is larger",
    },
    SettingKey {
        name: "contents.overlap",
        default: "5m",
        value_type: DURATION,
        description: "how much of the end of the previous segment the summarizer sees as context",
    },
    SettingKey {
        name: "contents.overlap_tokens",
        default: "500",
        value_type: TOKENS,
        description: "maximum size of that overlap",
    },
    SettingKey {
        name: "summarizer.kind",
        default: "extractive",
        value_type: SUMMARIZER_KIND,
        description: "who summarizes closed nodes of the contents: the built-in extractive summarizer alone, or also a model: anthropic, openai (any compatible endpoint, such as Ollama) or a command",
    },
    SettingKey {
        name: "summarizer.model",
        default: "",
        value_type: TEXT,
        description: "model name, for anthropic and openai",
    },
    SettingKey {
        name: "summarizer.base_url",
        default: "",
        value_type: TEXT,
        description: "URL of the model's endpoint; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    SettingKey {
        name: "summarizer.key_env",
        default: "",
        value_type: TEXT,
        description: "environment variable that holds the API key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
    },
    SettingKey {
        name: "summarizer.key_file",
        default: "",
        value_type: KEY_FILE,
        description: "file that holds nothing but the API key, instead of an environment variable; it must be readable by its owner alone (chmod 600), and a relative path begins in Tome's home",
    },
    SettingKey {
        name: "summarizer.command",
        default: "",
        value_type: TEXT,
        description: "shell command that reads a prompt on standard input and prints an answer, such as claude -p",
    },
    SettingKey {
        name: "summarizer.daily_tokens",
        default: "200000",
        value_type: TOKENS,
        description: "daily token budget, input and output together, shared by the summarizer, tome chat and reflections",
    },
    SettingKey {
        name: "summarizer.timeout",
        default: "60s",
        value_type: DURATION,
        description: "maximum duration of a call to the model",
    },
    SettingKey {
        name: "chat.provider",
        default: "",
        value_type: CHAT_PROVIDER,
        description: "model provider for tome chat and for reflections: anthropic, openai (any compatible endpoint, such as Ollama) or none; empty uses the summarizer's if that is anthropic or openai",
    },
    SettingKey {
        name: "chat.model",
        default: "",
        value_type: TEXT,
        description: "model name; with the summarizer's endpoint, another model there",
    },
    SettingKey {
        name: "chat.base_url",
        default: "",
        value_type: TEXT,
        description: "URL of the model's endpoint; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    SettingKey {
        name: "chat.key_env",
        default: "",
        value_type: TEXT,
        description: "environment variable that holds the API key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
    },
    SettingKey {
        name: "chat.key_file",
        default: "",
        value_type: KEY_FILE,
        description: "file that holds nothing but the API key, instead of an environment variable; as summarizer.key_file",
    },
    SettingKey {
        name: "chat.timeout",
        default: "120s",
        value_type: DURATION,
        description: "maximum time without output from the model",
    },
    SettingKey {
        name: "chat.window_tokens",
        default: "100000",
        value_type: ValueType::Integer { unit: "tokens", min: WINDOW_TOKENS_MIN, max: TOKENS_MAX },
        description: "context window of the model",
    },
    SettingKey {
        name: "chat.price_input",
        default: "",
        value_type: PRICE,
        description: "price of a million input tokens, for showing costs; empty if not known",
    },
    SettingKey {
        name: "chat.price_output",
        default: "",
        value_type: PRICE,
        description: "price of a million output tokens",
    },
    SettingKey {
        name: "chat.price_cache_read",
        default: "",
        value_type: PRICE,
        description: "price of a million input tokens read from the provider's cache; empty: as input",
    },
    SettingKey {
        name: "chat.price_cache_write",
        default: "",
        value_type: PRICE,
        description: "price of a million input tokens written to the provider's cache; empty: as input",
    },
    SettingKey {
        name: "reflect.enabled",
        default: "on",
        value_type: BOOLEAN,
        description: "when a session of any agent ends or is compacted, the chat model writes down what later sessions should know, as facts and episodes; nothing happens without a model",
    },
    SettingKey {
        name: "reflect.idle",
        default: "30m",
        value_type: DURATION_OR_NEVER,
        description: "a session that does not report its end counts as over after this long a silence",
    },
    SettingKey {
        name: "embed.provider",
        default: "builtin",
        value_type: EMBED_PROVIDER,
        description: "who computes vectors for recall: builtin (nothing leaves this machine), or openai (any compatible endpoint, which is sent the texts of events, notes and queries, with secrets redacted)",
    },
    SettingKey {
        name: "embed.model",
        default: "",
        value_type: TEXT,
        description: "name of the embedding model at the endpoint; after a change all vectors are computed again, in the background, while the old ones answer",
    },
    SettingKey {
        name: "embed.dimensions",
        default: "0",
        value_type: ValueType::Integer { unit: "dimensions", min: 0, max: DIMENSIONS_MAX },
        description: "length of a vector of that model, such as 768; needed for openai",
    },
    SettingKey {
        name: "embed.base_url",
        default: "",
        value_type: TEXT,
        description: "URL of the endpoint; empty for OpenAI's own, http://127.0.0.1:11434/v1 for Ollama",
    },
    SettingKey {
        name: "embed.key_env",
        default: "",
        value_type: TEXT,
        description: "environment variable that holds the endpoint's API key; empty for OPENAI_API_KEY",
    },
    SettingKey {
        name: "embed.timeout",
        default: "30s",
        value_type: DURATION,
        description: "maximum duration of a call that embeds stored texts",
    },
    SettingKey {
        name: "embed.question_timeout",
        default: "1s",
        value_type: DURATION,
        description: "how long a query waits for its vector; after that it is answered without vectors",
    },
    SettingKey {
        name: "mcp.toolsets",
        default: DEFAULT_TOOLSET,
        value_type: TOOLSETS,
        description: "tools that tome mcp offers; read-only leaves out those that change something",
    },
    SettingKey {
        name: "inject.enabled",
        default: "on",
        value_type: BOOLEAN,
        description: "whether hooks add anything to an agent's context; off records only",
    },
    SettingKey {
        name: "inject.start",
        default: "on",
        value_type: BOOLEAN,
        description: "at the start of a session and after a compaction, add what is known and where the last session stopped",
    },
    SettingKey {
        name: "inject.hints",
        default: "on",
        value_type: BOOLEAN,
        description: "at a prompt, add up to three cited hints if memory has something relevant",
    },
    SettingKey {
        name: "inject.before_edit",
        default: "on",
        value_type: BOOLEAN,
        description: "when an agent edits a file, add the last decision about it if it still holds: one line, once per file and session (before the edit with Claude Code, after the first one elsewhere)",
    },
    SettingKey {
        name: "inject.subagents",
        default: "on",
        value_type: BOOLEAN,
        description: "when a subagent starts, add how to work here and hints for its task (Claude Code, Codex, Copilot CLI)",
    },
    SettingKey {
        name: "inject.plan",
        default: "on",
        value_type: BOOLEAN,
        description: "at a longer plan, add lessons from earlier work that apply to it",
    },
    SettingKey {
        name: "inject.store",
        default: "on",
        value_type: BOOLEAN,
        description: "at a stop after substantial work, ask the agent once to store what was learned",
    },
    SettingKey {
        name: "inject.overview",
        default: "on",
        value_type: BOOLEAN,
        description: "remind the agent when the session's overview has not been updated for long",
    },
    SettingKey {
        name: "inject.headless",
        default: "off",
        value_type: BOOLEAN,
        description: "also send lessons for a plan, requests to store and reminders to headless runs (claude -p, codex exec, gemini -p, copilot -p); they can change the output of the run",
    },
    SettingKey {
        name: "inject.budget_tokens",
        default: "2000",
        value_type: TOKENS,
        description: "maximum size of the text added at the start of a session",
    },
    SettingKey {
        name: "inject.plan_steps",
        default: "5",
        value_type: ValueType::Integer { unit: "steps", min: 1, max: COUNT_MAX },
        description: "a plan with more steps counts as a longer plan",
    },
    SettingKey {
        name: "inject.store_tool_calls",
        default: "10",
        value_type: ValueType::Integer { unit: "tool calls", min: 1, max: COUNT_MAX },
        description: "this many tool calls, at least one of them an edit, count as substantial work",
    },
    SettingKey {
        name: "inject.overview_rounds",
        default: "10",
        value_type: ValueType::Integer { unit: "rounds", min: 1, max: COUNT_MAX },
        description: "rounds without an update of the overview before the first reminder; later intervals adapt, between 5 and 30",
    },
];
