//! Every key of the configuration, in one table.

use std::net::SocketAddr;
use std::time::Duration;

use tome_engine::StoreMode;
use tome_ledger::Engine;
use tome_model::{Zone, limits};

use super::{chat, duration};
use crate::mcp::{TOOLSETS_DEFAULT, Toolsets};

/// One key: its name, what it is without being set, what it means, and what it takes.
pub struct Key {
    /// As in the file: `section.name`. As a variable: `TOME_SECTION_NAME`.
    pub name: &'static str,
    /// The value when nobody sets it.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Says what is wrong with a value.
    pub check: fn(&str) -> Result<(), String>,
}

/// All keys, in the order in which they are listed.
pub const KEYS: &[Key] = &[
    Key {
        name: "store.mode",
        default: "per-project",
        about: "one ledger a project (per-project), or one for all (unified)",
        check: |text| text.parse::<StoreMode>().map(drop).map_err(|error| error.to_string()),
    },
    Key {
        name: "store.engine",
        default: "fjall",
        about: "what new stores are made with; rocksdb needs a build with that feature",
        check: |text| engine(text).map(drop),
    },
    Key {
        name: "store.idle_close",
        default: "5m",
        about: "a store that nobody uses is closed after this",
        check: |text| duration::parse(text).map(drop),
    },
    Key {
        name: "daemon.idle_exit",
        default: "30m",
        about: "the daemon leaves after being idle for this; never keeps it",
        check: |text| duration::parse(text).map(drop),
    },
    Key {
        name: "daemon.autostart",
        default: "true",
        about: "clients and hooks start the daemon when it is away",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "daemon.tcp",
        default: "",
        about: "listen on TCP too: a port (on loopback) or host:port; callers need the token in run/token",
        check: |text| address(text).map(drop),
    },
    Key {
        name: "daemon.endpoint",
        default: "",
        about: "reach the daemon by TCP at host:port instead of at the local socket",
        check: |text| address(text).map(drop),
    },
    Key {
        name: "capture.text_max_bytes",
        default: "262144",
        about: "event text, tool input and tool output are each kept up to this size",
        check: |text| size(text).map(drop),
    },
    Key {
        name: "capture.transcripts",
        default: "on",
        about: "when a session ends or falls silent, the daemon reads the agent's own transcript and stores what hooks missed",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "capture.transcripts_idle",
        default: "60s",
        about: "how long a session that has not ended must be silent before its transcript is read",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "notes.facts_max_bytes",
        default: "15360",
        about: "what all files in facts/ of a notebook may take together",
        check: |text| facts_size(text).map(drop),
    },
    Key {
        name: "notes.facts_allowed",
        default: "",
        about: "the only file names allowed in facts/, such as user.md,memory.md; empty allows any",
        check: |text| fact_names(text).map(drop),
    },
    Key {
        name: "contents.zone",
        default: "system",
        about: "the time zone in which the contents' days are days: system, or such as Europe/Berlin",
        check: |text| zone(text).map(drop),
    },
    Key {
        name: "contents.gap",
        default: "30m",
        about: "when nothing has happened for longer, a session's next segment begins",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "contents.segment_tokens",
        default: "4000",
        about: "a segment of the contents holds at most so many tokens, unless one event does",
        check: |text| tokens(text, SEGMENT_TOKENS_MIN).map(drop),
    },
    Key {
        name: "contents.overlap",
        default: "5m",
        about: "a segment that goes on from another sees so much of its end, for understanding",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "contents.overlap_tokens",
        default: "500",
        about: "at most so many tokens of it",
        check: |text| tokens(text, 0).map(drop),
    },
    Key {
        name: "summarizer.kind",
        default: "extractive",
        about: "who words closed contents: extractive (built in), or also anthropic, openai (any compatible endpoint, such as Ollama) or command",
        check: |text| summarizer(text).map(drop),
    },
    Key {
        name: "summarizer.model",
        default: "",
        about: "the model's name, for anthropic and openai",
        check: |_| Ok(()),
    },
    Key {
        name: "summarizer.base_url",
        default: "",
        about: "where the model answers; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
        check: |_| Ok(()),
    },
    Key {
        name: "summarizer.key_env",
        default: "",
        about: "the variable that holds the key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
        check: |_| Ok(()),
    },
    Key {
        name: "summarizer.key_file",
        default: "",
        about: "a file with the key alone in it, instead of a variable; nobody but you may be able to read it (chmod 600), and a relative path begins in Tome's home",
        check: |text| key_file(text).map(drop),
    },
    Key {
        name: "summarizer.command",
        default: "",
        about: "a line for the shell that reads a prompt and prints an answer, such as claude -p",
        check: |_| Ok(()),
    },
    Key {
        name: "summarizer.daily_tokens",
        default: "200000",
        about: "what a day may cost in tokens, input and output together: one budget for the summarizer, tome chat and reflections",
        check: |text| tokens(text, 0).map(drop),
    },
    Key {
        name: "summarizer.timeout",
        default: "60s",
        about: "a call to the model takes no longer",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "chat.provider",
        default: "",
        about: "whose model tome chat talks to and sessions are reflected on with: anthropic, openai (any compatible endpoint, such as Ollama) or none; empty takes the summarizer's where that is one of them",
        check: |text| chat::provider(text).map(drop),
    },
    Key {
        name: "chat.model",
        default: "",
        about: "the model's name; with the summarizer's endpoint, another model there",
        check: |_| Ok(()),
    },
    Key {
        name: "chat.base_url",
        default: "",
        about: "where the model answers; empty for the vendor's own, http://127.0.0.1:11434/v1 for Ollama",
        check: |_| Ok(()),
    },
    Key {
        name: "chat.key_env",
        default: "",
        about: "the variable that holds the key; empty for ANTHROPIC_API_KEY or OPENAI_API_KEY",
        check: |_| Ok(()),
    },
    Key {
        name: "chat.key_file",
        default: "",
        about: "a file with the key alone in it, instead of a variable; as summarizer.key_file",
        check: |text| key_file(text).map(drop),
    },
    Key {
        name: "chat.timeout",
        default: "120s",
        about: "no silence of the model is longer",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "chat.window_tokens",
        default: "100000",
        about: "what the model can read at once, in tokens",
        check: |text| chat::window(text).map(drop),
    },
    Key {
        name: "chat.price_input",
        default: "",
        about: "what a million tokens cost that the model reads, for showing costs; empty: not known",
        check: |text| chat::price(text).map(drop),
    },
    Key {
        name: "chat.price_output",
        default: "",
        about: "what a million tokens cost that it writes",
        check: |text| chat::price(text).map(drop),
    },
    Key {
        name: "chat.price_cache_read",
        default: "",
        about: "what a million tokens cost that come from its cache; empty: as read",
        check: |text| chat::price(text).map(drop),
    },
    Key {
        name: "chat.price_cache_write",
        default: "",
        about: "what a million tokens cost that go into its cache; empty: as read",
        check: |text| chat::price(text).map(drop),
    },
    Key {
        name: "reflect.enabled",
        default: "on",
        about: "when a session of any agent ends or is compacted, the conversation model writes down what is worth knowing the next time, as facts and episodes; without a model nothing happens",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "reflect.idle",
        default: "30m",
        about: "a session that does not say that it ends is over after so long a silence; never waits for its end",
        check: |text| duration::parse(text).map(drop),
    },
    Key {
        name: "embed.provider",
        default: "builtin",
        about: "who makes the vectors that recall uses: builtin (nothing leaves this machine), or openai (any compatible endpoint; the texts of events, notes and questions are sent to it, without what looks like a secret)",
        check: |text| embedder(text).map(drop),
    },
    Key {
        name: "embed.model",
        default: "",
        about: "the embedding model's name at the endpoint; another one has all vectors made anew, in the background",
        check: |_| Ok(()),
    },
    Key {
        name: "embed.dimensions",
        default: "0",
        about: "how many numbers a vector of that model has, such as 768",
        check: |text| dimensions(text).map(drop),
    },
    Key {
        name: "embed.base_url",
        default: "",
        about: "where the endpoint answers; empty for OpenAI's own, http://127.0.0.1:11434/v1 for Ollama",
        check: |_| Ok(()),
    },
    Key {
        name: "embed.key_env",
        default: "",
        about: "the variable that holds the endpoint's key; empty for OPENAI_API_KEY",
        check: |_| Ok(()),
    },
    Key {
        name: "embed.timeout",
        default: "30s",
        about: "a call that makes vectors of what is stored takes no longer",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "embed.question_timeout",
        default: "1s",
        about: "a question waits no longer for its vector; it is answered without vectors then",
        check: |text| gap(text).map(drop),
    },
    Key {
        name: "mcp.toolsets",
        default: TOOLSETS_DEFAULT,
        about: "the tools that tome mcp offers: core, recall, notes, coder, contents, anthropic, all; read-only leaves out what changes something",
        check: |text| Toolsets::parse(text).map(drop),
    },
    Key {
        name: "inject.enabled",
        default: "on",
        about: "whether hooks put anything into an agent's context; off records only",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.start",
        default: "on",
        about: "at the start of a session, and after a compaction: what is known and where things stand",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.hints",
        default: "on",
        about: "at a prompt: up to three cited hints, where memory has something to the point",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.plan",
        default: "on",
        about: "at a longer plan: the coder's insights for it",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.store",
        default: "on",
        about: "at a stop after meaningful work, once: the request to store what was learned",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.overview",
        default: "on",
        about: "a reminder when a session's overview has not been written for long",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.headless",
        default: "off",
        about: "whether runs with nobody at the keyboard (claude -p, codex exec, gemini -p, copilot -p) also get plan insights, the request to store and overview reminders; these can change what the run prints",
        check: |text| truth(text).map(drop),
    },
    Key {
        name: "inject.budget_tokens",
        default: "2000",
        about: "what the text at the start of a session may take",
        check: |text| tokens(text, 0).map(drop),
    },
    Key {
        name: "inject.plan_steps",
        default: "5",
        about: "a plan with more steps is a longer one",
        check: |text| steps(text).map(drop),
    },
    Key {
        name: "inject.store_tool_calls",
        default: "10",
        about: "so many tool calls with an edit among them are meaningful work",
        check: |text| steps(text).map(drop),
    },
    Key {
        name: "inject.overview_rounds",
        default: "10",
        about: "rounds without a write to the overview until the first reminder; then between 5 and 30, by habit",
        check: |text| steps(text).map(drop),
    },
];

/// Who makes vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedProvider {
    /// The model in this program.
    Builtin,
    /// An endpoint.
    OpenAi,
}

/// Reads who makes vectors.
pub fn embedder(text: &str) -> Result<EmbedProvider, String> {
    match text {
        "builtin" => Ok(EmbedProvider::Builtin),
        "openai" => Ok(EmbedProvider::OpenAi),
        _ => Err(format!("{text:?} is not known: use builtin or openai")),
    }
}

/// No model has more, and an index keeps them.
const DIMENSIONS_MAX: usize = 16_384;

/// Reads the length of a vector; 0 where nobody has said it.
pub fn dimensions(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(dimensions) if dimensions <= DIMENSIONS_MAX => Ok(dimensions),
        _ => Err(format!("{text:?} is not a number of dimensions between 1 and {DIMENSIONS_MAX}")),
    }
}

/// Who words the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizerKind {
    /// The built-in one alone.
    Extractive,
    /// Anthropic's Messages API.
    Anthropic,
    /// Chat completions, by whoever offers them.
    OpenAi,
    /// A command.
    Command,
}

/// Reads who words the contents.
pub fn summarizer(text: &str) -> Result<SummarizerKind, String> {
    match text {
        "extractive" => Ok(SummarizerKind::Extractive),
        "anthropic" => Ok(SummarizerKind::Anthropic),
        "openai" => Ok(SummarizerKind::OpenAi),
        "command" => Ok(SummarizerKind::Command),
        _ => Err(format!("{text:?} is not known: use extractive, anthropic, openai or command")),
    }
}

/// Reads the path of a key file. Whether it is a good one is seen when the key is needed.
pub fn key_file(text: &str) -> Result<&str, String> {
    if text.starts_with('~') {
        return Err("~ means nothing here: write the whole path".to_owned());
    }
    Ok(text)
}

/// Smaller segments would each hold a line or two.
pub const SEGMENT_TOKENS_MIN: u64 = 100;

/// Larger ones would be no help to anybody.
const TOKENS_MAX: u64 = 1_000_000;

/// Reads the name of a time zone.
pub fn zone(text: &str) -> Result<Zone, String> {
    Zone::named(text).map_err(|error| error.to_string())
}

/// Reads a length of time that has an end.
pub fn gap(text: &str) -> Result<Duration, String> {
    duration::parse(text)?
        .ok_or_else(|| "never is no length of time here: write such as 30m".into())
}

/// Reads a count of tokens.
pub fn tokens(text: &str, least: u64) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(tokens) if (least..=TOKENS_MAX).contains(&tokens) => Ok(tokens),
        _ => Err(format!("{text:?} is not a number of tokens between {least} and {TOKENS_MAX}")),
    }
}

/// Reads a small count of something.
pub fn steps(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count) if (1..=10_000).contains(&count) => Ok(count),
        _ => Err(format!("{text:?} is not a number between 1 and 10000")),
    }
}

/// Reads a storage engine that this build has.
pub fn engine(text: &str) -> Result<Engine, String> {
    match Engine::named(text) {
        Some(engine) if Engine::BUILT.contains(&engine) => Ok(engine),
        Some(_) => {
            Err(format!("this program was built without {text}: build it with --features {text}"))
        }
        None => Err(format!("{text:?} is not known: use fjall or rocksdb")),
    }
}

/// Reads yes or no.
pub fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}

/// Reads a port on loopback, or host and port; `None` for nothing.
pub fn address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(Some(SocketAddr::from(([127, 0, 0, 1], port))));
    }
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = named.as_deref().unwrap_or(text).parse();
    parsed.map(Some).map_err(|_| {
        format!("{text:?} is not an address: write a port such as 7427, or 127.0.0.1:7427")
    })
}

/// Reads a cap of event text.
pub fn size(text: &str) -> Result<usize, String> {
    let (least, most) = (4096, limits::TEXT_BYTES_CEILING);
    match text.parse::<usize>() {
        Ok(bytes) if (least..=most).contains(&bytes) => Ok(bytes),
        _ => Err(format!("{text:?} is not a size between {least} and {most} bytes")),
    }
}

/// Reads what `facts/` may take.
pub fn facts_size(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(format!("{text:?} is not a number of bytes above 0")),
    }
}

/// Reads file names with commas between them; `None` for nothing, which allows any.
pub fn fact_names(text: &str) -> Result<Option<Vec<String>>, String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    match names.iter().find(|name| name.contains(['/', '\\']) || !name.ends_with(".md")) {
        Some(name) => Err(format!(
            "{name:?} is not the name of a fact file: write names such as user.md, with commas between them"
        )),
        None => Ok(Some(names).filter(|names| !names.is_empty())),
    }
}
