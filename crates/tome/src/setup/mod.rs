//! Setting Tome up in the coding agents on this machine: what is wired where comes from
//! `agents/*/wiring.rs`; here it is compared with the disk, shown, written and undone.
//!
//! - A file of somebody else's is edited in place: everything that is not Tome's stays byte for byte
//!   (`json_text.rs`, `toml_text.rs`, `edit.rs`).
//! - Before a file is changed, what it was is kept in `setup/` of Tome's home (`record.rs`), so that
//!   it can be brought back even when the machine fails in the middle (`undo.rs`).
//! - A file that cannot be read as what it should be is not touched, and the others go on.

pub(crate) mod disk;
mod edit;
mod ground;
mod json_text;
mod part;
mod plan;
mod plugins;
mod record;
mod sha256;
mod skills;
#[cfg(test)]
mod tests;
mod texts;
mod toml_text;
mod trust;
mod undo;
mod untrust;

use thiserror::Error;

pub use ground::{Ground, Launch};
pub use json_text::hooks_text;
pub use part::{Form, Part, Server};
pub use plan::{Action, FilePlan, Plan, apply, plan};
pub use plugins::write_bundles;
pub use record::{Book, Lock};
pub use skills::{SKILL_FILE, redundant_copies};
pub use texts::{COMMANDS, Hint, MARK, PLUGIN_README, navigator, opencode_plugin, skill};
pub use trust::{Trust, codex_trust};
pub use undo::{Undoing, Undone, undo, undoing};

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// It is not what it should be.
    #[error("line {line}: {problem}")]
    Broken {
        /// Where, from 1.
        line: usize,
        /// What.
        problem: String,
    },
    /// It is, and has something in the way.
    #[error("{0}")]
    Shape(String),
}

/// Why a file was not changed.
#[derive(Debug, Error)]
pub enum SetupError {
    /// Its text.
    #[error("{path} was not touched: {cause}")]
    Text {
        /// Which file.
        path: String,
        /// Why.
        cause: EditError,
    },
    /// The disk.
    #[error("{path}: {cause}")]
    Disk {
        /// Which file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
}

/// What a JSON file of an agent says, if it is there and can be read.
pub fn settings_at(path: &std::path::Path) -> Option<serde_json::Value> {
    let text = String::from_utf8(disk::read(path).ok()??).ok()?;
    json_text::read(text.trim_start_matches('\u{feff}')).ok()?
}

/// Whether a text is JSON to the letter, without comments and trailing commas.
pub fn is_strict_json(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

impl SetupError {
    fn disk(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |cause| Self::Disk { path, cause }
    }
}
