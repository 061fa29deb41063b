//! Configuration. Precedence, lowest first: defaults, config file, `TOME_*` variables, flags.
//!
//! Every key has its type, default and description in `keys.rs`; validation, listing and
//! `docs/configuration.md` are derived from that table. `load.rs` turns the validated texts into
//! `Settings`; the fallbacks there are for values that fail to parse, which validation rules out.

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
pub use duration::{parse_finite as parse_duration, unit_ms};
pub use keys::SETTING_KEYS;
pub use load::{Config, ConfigError, ConfigFlags, SettingOrigin};
pub use value::{EmbedProvider, SummarizerKind};

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tome_contents::ContentsSettings;
use tome_engine::Toolsets;
use tome_home::{Home, StoreMode};
use tome_ledger::StorageEngine;
use tome_notebook::NotebookRules;
use tome_redact::CustomPattern;

/// The effective settings, typed.
#[derive(Debug, Clone)]
pub struct Settings {
    pub home: Home,
    /// One ledger per project, or one for all.
    pub store_mode: StoreMode,
    /// Storage engine of new stores.
    pub store_engine: StorageEngine,
    /// Idle time after which a store is closed.
    pub store_idle_close: Duration,
    /// Idle time after which the daemon exits; `None` for never.
    pub daemon_idle_exit: Option<Duration>,
    /// Whether clients and hooks start the daemon if it is not running.
    pub daemon_autostart: bool,
    /// Additional TCP address to listen on; calls need the token.
    pub daemon_tcp: Option<SocketAddr>,
    /// TCP address of the daemon, instead of the local socket.
    pub daemon_endpoint: Option<SocketAddr>,
    /// Maximum size of an event's text.
    pub text_bytes_max: usize,
    /// User-defined redaction patterns.
    pub redact: Vec<CustomPattern>,
    /// Paths that are not recorded, separated by commas.
    pub ignore: String,
    /// The config file that may change `ignore` while the daemon runs.
    pub ignore_file: Option<PathBuf>,
    pub transcripts: TranscriptSettings,
    pub notes: NotebookRules,
    pub contents: ContentsSettings,
    pub summarizer: SummarizerSettings,
    pub chat: ChatSettings,
    pub reflect: ReflectSettings,
    pub inject: InjectSettings,
    pub embed: EmbedSettings,
    /// Toolsets that the MCP server offers.
    pub mcp_toolsets: Toolsets,
}

/// The embedder for the vector index.
#[derive(Debug, Clone)]
pub struct EmbedSettings {
    pub provider: EmbedProvider,
    pub model: String,
    /// 0 if not set.
    pub dimensions: usize,
    /// Empty for OpenAI's default.
    pub base_url: String,
    /// Environment variable with the API key; empty for OpenAI's default.
    pub key_env: String,
    /// Timeout of a background call.
    pub timeout: Duration,
    /// How long a query waits for its vector.
    pub question_timeout: Duration,
}

/// Injections by hooks. Sent with every request, so that a change takes effect without restarting the
/// daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectSettings {
    /// At the start of a session.
    pub start: bool,
    /// At a prompt.
    pub hints: bool,
    /// The last decision about a file, at an edit.
    pub before_edit: bool,
    /// At the start of a subagent.
    pub subagents: bool,
    /// At a longer plan.
    pub plan: bool,
    /// At a stop after substantial work.
    pub store: bool,
    /// When the overview is out of date.
    pub overview: bool,
    /// Whether plan, store and overview injections are also sent to headless runs.
    pub headless: bool,
    /// Token budget at the start of a session.
    pub budget_tokens: u64,
    /// A plan with more steps than this counts as a longer plan.
    pub plan_steps: u32,
    /// This many tool calls, including an edit, count as substantial work.
    pub store_tool_calls: u32,
    /// Rounds before the first reminder to update the overview.
    pub overview_rounds: u32,
}

impl Settings {
    /// The ignored paths as the config file has them now. A daemon runs on while the file is edited,
    /// and must not store what hooks leave out.
    pub fn current_ignore(&self) -> String {
        let Some(file) = self.ignore_file.as_deref().filter(|file| file.is_file()) else {
            return self.ignore.clone();
        };
        let flags = ConfigFlags {
            home: Some(self.home.root().to_path_buf()),
            config: Some(file.to_path_buf()),
            set: Vec::new(),
        };
        let config = Config::load(&flags, &|_| None);
        config.map_or_else(|_| self.ignore.clone(), |config| config.to_hook_settings().ignore)
    }
}

impl InjectSettings {
    /// Whether any kind of injection is enabled.
    pub fn is_any_enabled(&self) -> bool {
        let at_events = self.plan || self.store || self.overview;
        self.start || self.hints || self.before_edit || self.subagents || at_events
    }
}

/// The summarizer of the contents, and the token budget.
#[derive(Debug, Clone)]
pub struct SummarizerSettings {
    pub kind: SummarizerKind,
    pub model: String,
    /// Empty for the vendor's default.
    pub base_url: String,
    /// Environment variable with the API key; empty for the vendor's default.
    pub key_env: String,
    /// File with the API key, instead of a variable; empty for none.
    pub key_file: String,
    /// The shell command, for `SummarizerKind::Command`.
    pub command: String,
    /// Daily token budget, shared by all callers of a model.
    pub daily_tokens: u64,
    /// Timeout of a call.
    pub timeout: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    fn a_running_process_sees_what_is_ignored_now() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let load = |set: &[&str]| {
            let flags = ConfigFlags {
                home: Some(folder.path().join("home")),
                config: Some(file.clone()),
                set: set.iter().map(|one| (*one).to_owned()).collect(),
            };
            Config::load(&flags, &|_| None).unwrap().to_settings()
        };
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        write("[inject]\nenabled = true\n");
        let (settings, fixed) = (load(&[]), load(&["capture.ignore=*.pem"]));
        assert_eq!(settings.current_ignore(), "");
        write("[capture]\nignore = [\"~/private/\"]\n");
        assert_eq!(settings.current_ignore(), "~/private/");
        assert_eq!(fixed.current_ignore(), "*.pem", "flags come before the file");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(settings.current_ignore(), "", "what the process began with");
    }
}
