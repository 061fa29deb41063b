//! The lines of a backup.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tome_model::{Event, Millis};

use super::BackupError;
use super::paths::{belongs_to_notebook, check_path, is_built, is_kept_file, is_notebook_folder};

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
    /// Projects, each counted once.
    pub projects: u64,
    /// Events of all ledgers.
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

/// Counts records. A project whose record is repeated counts once.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordCounter {
    counts: BackupCounts,
    roots: BTreeSet<String>,
    in_notebook: bool,
}

impl RecordCounter {
    /// Continues from a partial backup, which holds nothing but events and projects.
    pub(crate) fn resume(events: u64, roots: impl IntoIterator<Item = String>) -> Self {
        let roots: BTreeSet<String> = roots.into_iter().collect();
        let counts = BackupCounts { events, projects: roots.len() as u64, ..Default::default() };
        Self { counts, roots, in_notebook: false }
    }

    pub(crate) fn counts(&self) -> BackupCounts {
        self.counts
    }

    pub(crate) fn add(&mut self, record: &Record) {
        let counts = &mut self.counts;
        match record {
            Record::Project(project) => {
                counts.projects += u64::from(self.roots.insert(project_root(project).to_owned()));
            }
            Record::Event(_) => counts.events += 1,
            Record::Notebook { .. } => {
                self.in_notebook = true;
                counts.notebooks += 1;
            }
            Record::NotebookEnd => self.in_notebook = false,
            Record::File { last: true, path, .. } if !self.in_notebook => {
                counts.files += u64::from(!path.is_empty());
            }
            Record::File { last: true, path, .. } if path.ends_with(".md") => {
                counts.notes += u64::from(!is_built(path));
            }
            Record::Spool { .. } => counts.spooled += 1,
            _ => {}
        }
    }
}

/// The root in the record of a project.
/// Refuses records whose paths lead elsewhere.
pub(crate) fn check_record(record: &Record) -> Result<(), BackupError> {
    match record {
        Record::Notebook { project, folder } => {
            check_path(folder)?;
            if is_notebook_folder(project.is_some(), folder) {
                Ok(())
            } else {
                Err(BackupError::Path(folder.clone()))
            }
        }
        Record::File { path, project, .. } => {
            check_path(path)?;
            if belongs_to_notebook(path) || is_kept_file(project.is_some(), path) {
                Ok(())
            } else {
                Err(BackupError::Path(path.clone()))
            }
        }
        _ => Ok(()),
    }
}

pub(crate) fn project_root(project: &Value) -> &str {
    project.get("root").and_then(Value::as_str).unwrap_or_default()
}
