//! Installs Tome into the coding agents on this machine. `integration/` defines the
//! files; this module compares them with the disk, shows the plan, applies it and undoes it.
//!
//! Other programs' files are edited in place and otherwise stay byte for byte the same (`edit.rs`,
//! `json_text.rs`, `toml_text.rs`). Their original content is saved to `setup/` in Tome's home
//! before a change, so that it can be restored even after a crash (`undo_journal.rs`, `undo.rs`). A
//! file that cannot be parsed is not touched; the others are still processed.

pub(crate) mod disk;
mod edit;
mod environment;
mod install_file;
pub mod integration;
mod json_text;
mod plan;
mod plugins;
mod skills;
#[cfg(test)]
mod tests;
mod texts;
mod toml_text;
mod trust;
mod trust_cleanup;
mod undo;
mod undo_journal;

use thiserror::Error;

pub use environment::{Environment, LaunchCommand};
pub use install_file::{InstallContent, InstallFile, McpServerEntry};
pub use plan::{FilePlan, PlannedEdit, SetupPlan, apply_plan, build_plan};
pub use plugins::write_bundles;
pub use skills::redundant_copies;
pub use texts::{
    ArgumentHint, COMMANDS, OWNERSHIP_MARK, PLUGIN_README, SKILL_FILE, render_navigator,
    render_opencode_plugin, render_skill,
};
pub use trust::{HookTrust, read_codex_trust};
pub use undo::{FileUndo, UndoAction, apply_undo, plan_undo};
pub use undo_journal::{SetupLock, UndoJournal};

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// Parse error.
    #[error("line {line}: {problem}")]
    Broken {
        /// One-based.
        line: usize,
        problem: String,
    },
    /// Valid syntax, but the content is in the way.
    #[error("{0}")]
    Shape(String),
}

#[derive(Debug, Error)]
pub enum SetupError {
    /// The text cannot be edited.
    #[error("{path} was not touched: {cause}")]
    Text { path: String, cause: EditError },
    #[error("{path}: {cause}")]
    Disk { path: String, cause: std::io::Error },
}

/// Reads an agent's JSON settings; `None` if the file is missing or unreadable.
pub fn read_settings(path: &std::path::Path) -> Option<serde_json::Value> {
    let text = String::from_utf8(disk::read(path).ok()??).ok()?;
    json_text::parse(text.trim_start_matches('\u{feff}')).ok()?
}

/// Whether a text is strict JSON, without comments and trailing commas.
pub fn is_strict_json(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

impl SetupError {
    /// The file that was not written.
    pub fn path(&self) -> &str {
        match self {
            Self::Text { path, .. } | Self::Disk { path, .. } => path,
        }
    }

    /// Why it was not written.
    pub fn cause(&self) -> String {
        match self {
            Self::Text { cause, .. } => cause.to_string(),
            Self::Disk { cause, .. } => cause.to_string(),
        }
    }

    fn disk(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |cause| Self::Disk { path, cause }
    }
}
