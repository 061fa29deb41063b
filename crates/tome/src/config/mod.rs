//! Configuration: defaults, then the config file, then `TOME_*` variables, then flags.
//!
//! Every setting stands once in `keys.rs`; reading, checking, listing and `docs/configuration.md` all
//! come from that table.

mod capture;
mod chat;
mod duration;
mod keys;
mod load;
#[cfg(test)]
mod reference;
mod value;

pub use capture::TranscriptSettings;
pub use chat::{ChatProvider, ChatSettings, ReflectSettings};
pub use keys::KEYS;
pub use load::{Config, ConfigError, Flags};
pub use value::{EmbedProvider, SummarizerKind};

use std::net::SocketAddr;
use std::time::Duration;

use tome_contents::ContentsSettings;
use tome_home::{Home, StoreMode};
use tome_ledger::Engine;
use tome_notebook::Rules;
use tome_redact::OwnPattern;

use crate::mcp::Toolsets;

/// The effective settings, typed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tome's home folder.
    pub home: Home,
    /// One ledger a project, or one for all.
    pub store_mode: StoreMode,
    /// What new stores are made with.
    pub store_engine: Engine,
    /// A store that nobody uses is closed after this.
    pub store_idle_close: Duration,
    /// The daemon leaves after being idle for this; `None` for never.
    pub daemon_idle_exit: Option<Duration>,
    /// Whether clients and hooks start the daemon when it is away.
    pub daemon_autostart: bool,
    /// Listen on TCP too, for those who have the token.
    pub daemon_tcp: Option<SocketAddr>,
    /// Reach the daemon here instead of at the local socket.
    pub daemon_endpoint: Option<SocketAddr>,
    /// Event text is kept up to this size.
    pub text_bytes_max: usize,
    /// Patterns of the user's own that are cut out.
    pub redact: Vec<OwnPattern>,
    /// When transcripts are read for what hooks missed.
    pub transcripts: TranscriptSettings,
    /// What the owner of the notebooks has set.
    pub notes: Rules,
    /// How the contents are made.
    pub contents: ContentsSettings,
    /// Who words them.
    pub summarizer: SummarizerSettings,
    /// Who takes part in conversations.
    pub chat: ChatSettings,
    /// When sessions are reflected on.
    pub reflect: ReflectSettings,
    /// What hooks say to their agents.
    pub inject: InjectSettings,
    /// Who makes vectors.
    pub embed: EmbedSettings,
    /// The tools that clients of the Model Context Protocol are offered.
    pub mcp_toolsets: Toolsets,
}

/// Who makes the vectors that recall uses.
#[derive(Debug, Clone)]
pub struct EmbedSettings {
    /// Who.
    pub provider: EmbedProvider,
    /// Which model.
    pub model: String,
    /// How many numbers its vectors have; 0 where nobody has said it.
    pub dimensions: usize,
    /// Where it answers; empty for OpenAI's own.
    pub base_url: String,
    /// The variable that holds its key; empty for OpenAI's own.
    pub key_env: String,
    /// A call in the background takes no longer.
    pub timeout: Duration,
    /// A question waits no longer.
    pub question_timeout: Duration,
}

/// What hooks say to their agents. They travel with every question, so that a change counts at once
/// and not when the daemon is next started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectSettings {
    /// At the start of a session.
    pub start: bool,
    /// At a prompt.
    pub hints: bool,
    /// At a longer plan.
    pub plan: bool,
    /// At a stop after meaningful work.
    pub store: bool,
    /// When the overview was not written for long.
    pub overview: bool,
    /// Whether plans, stops and overviews are answered even if nobody is at the keyboard.
    pub headless: bool,
    /// What the start of a session may take.
    pub budget_tokens: u64,
    /// A plan with more steps is a longer one.
    pub plan_steps: u32,
    /// So many tool calls, with an edit, are meaningful work.
    pub store_tool_calls: u32,
    /// Rounds until the first reminder of the overview.
    pub overview_rounds: u32,
}

impl InjectSettings {
    /// Whether anything is to be said at all.
    pub fn any(&self) -> bool {
        self.start || self.hints || self.plan || self.store || self.overview
    }
}

/// Who words the contents, and what that may cost.
#[derive(Debug, Clone)]
pub struct SummarizerSettings {
    /// Who.
    pub kind: SummarizerKind,
    /// Which model.
    pub model: String,
    /// Where it answers; empty for the vendor's own.
    pub base_url: String,
    /// The variable that holds its key; empty for the vendor's own.
    pub key_env: String,
    /// The file that holds its key, instead of a variable; empty for none.
    pub key_file: String,
    /// What is run, for a command.
    pub command: String,
    /// What a day may cost in tokens, whoever asks a model: the budget of all.
    pub daily_tokens: u64,
    /// A call takes no longer.
    pub timeout: Duration,
}
