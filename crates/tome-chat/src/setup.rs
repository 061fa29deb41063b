//! Dependencies of a chat, passed in by the program that starts it.

use std::path::PathBuf;
use std::sync::Arc;

use tome_client::DaemonConnector;
use tome_engine::triggers::TriggerSettings;
use tome_llm::{ChatModel, ModelFailure, Prices};
use tome_redact::CustomPattern;

/// Builds the configured model, or another one at the same endpoint; `None` if none is configured.
pub type BuildModel<'a> =
    dyn Fn(Option<&str>) -> Result<Option<Arc<dyn ChatModel>>, ModelFailure> + 'a;

/// Dependencies of a chat.
pub struct ChatSetup<'a> {
    /// Reaches the daemon; its settings also name Tome's home and the clock.
    pub connector: DaemonConnector,
    /// The current folder, as an absolute path.
    pub cwd: String,
    /// The user's home folder, which is no project.
    pub user_home: Option<PathBuf>,
    /// Print JSON instead of text.
    pub json: bool,
    /// Builds the model of the chat.
    pub build_model: &'a BuildModel<'a>,
    /// The settings sections that configure the model.
    pub sections: ModelSections,
    /// Context window of the model: request and reply together.
    pub window_tokens: u64,
    /// Prices of the model.
    pub prices: Prices,
    /// Settings of the reminders between turns.
    pub triggers: TriggerSettings,
    /// The user's own redaction patterns.
    pub redact: &'a [CustomPattern],
    /// Runs a read-only command of the command line (`recall`, `toc`, `memory`) and prints its output
    /// or error.
    pub run_command: &'a dyn Fn(&[&str]),
}

/// The settings sections that configure the model, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSections {
    /// Section with endpoint and key.
    pub endpoint: &'static str,
    /// Section with the model's name.
    pub model: &'static str,
}
