//! The lines of a backup.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tome_model::{Event, Millis};

/// The format of backups that this version writes, and the newest that it reads.
pub(crate) const FORMAT: u64 = 1;

/// A line of a backup: an object with one field, named after the kind of record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record.
    Start {
        /// The version of Tome that wrote it.
        version: String,
        /// When it was begun.
        created: Millis,
    },
    /// The config file.
    Config {
        /// Its text.
        text: String,
    },
    /// A project, as in its `project.toml`.
    Project(Value),
    /// An event.
    Event(Box<Event>),
    /// An entry by which a ledger recognizes duplicates.
    Dedup {
        /// The project whose ledger has it.
        project: String,
        /// The family of the ledger.
        family: String,
        /// In hex.
        key: String,
        /// In hex.
        value: String,
    },
    /// The files of a notebook follow: its history first, then its notes.
    Notebook {
        /// The project; `None` for the coder's notebook.
        project: Option<String>,
        /// Its folder, relative to the project's folder or to the home.
        folder: String,
    },
    /// All files of the notebook have been listed.
    NotebookEnd,
    /// A part of a file. The parts of a file follow each other.
    File {
        /// The project; `None` for a file of the home.
        project: Option<String>,
        /// Relative to the project's folder or to the home; in a notebook, to its folder.
        path: String,
        /// Whether it is the last part.
        last: bool,
        /// The content, if it is UTF-8.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The content in hex, if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hex: Option<String>,
    },
    /// A line of the spool.
    Spool {
        /// With its checksum.
        line: String,
    },
    /// The last record.
    End(BackupCounts),
}

/// Counts of the records in a backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupCounts {
    /// Projects.
    pub projects: u64,
    /// Events.
    pub events: u64,
    /// Notes of all notebooks.
    pub notes: u64,
    /// Notebooks with their histories.
    pub notebooks: u64,
    /// Other files.
    pub files: u64,
    /// Events that were waiting in the spool.
    pub spooled: u64,
    /// Events that could not be read and are missing.
    pub unreadable: u64,
}

impl BackupCounts {
    /// Counts a record.
    pub(crate) fn add(&mut self, record: &Record, in_notebook: bool) {
        match record {
            Record::Project(_) => self.projects += 1,
            Record::Event(_) => self.events += 1,
            Record::Notebook { .. } => self.notebooks += 1,
            Record::File { last: true, path, .. } if !in_notebook => {
                self.files += u64::from(!path.is_empty());
            }
            Record::File { last: true, path, .. } if path.ends_with(".md") => self.notes += 1,
            Record::Spool { .. } => self.spooled += 1,
            _ => {}
        }
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
