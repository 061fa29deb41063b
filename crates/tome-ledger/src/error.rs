//! Errors of a ledger, each with what to do about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{Family, StorageEngine};

/// An error of a storage engine.
pub type KvError = Box<dyn std::error::Error + Send + Sync>;

/// An error of a ledger.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A file operation failed.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The store's path is not a directory.
    #[error("{} is not a directory: move it away or choose another path for the ledger", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Another process, or another part of this one, has opened the store.
    #[error("the ledger at {} is in use by another process: stop it first", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// The store was created with another engine.
    #[error("the ledger at {} was created with {found}, not {requested}: open it with {found}", path.display())]
    WrongEngine {
        /// The store.
        path: PathBuf,
        /// The engine it was created with.
        found: StorageEngine,
        /// The requested engine.
        requested: StorageEngine,
    },
    /// The store needs an engine that is not part of this build.
    #[error("the ledger at {} needs {engine}: use a build with the cargo feature `{engine}`", path.display())]
    EngineUnavailable {
        /// The store.
        path: PathBuf,
        /// The engine it needs.
        engine: StorageEngine,
    },
    /// The store was written by a newer Tome.
    #[error("the ledger at {} has format {found}, but this Tome supports only up to {known}: upgrade Tome", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// The store's format.
        found: u32,
        /// The newest format supported here.
        known: u32,
    },
    /// The store's `STORE` file cannot be read.
    #[error("{} is damaged ({problem}): restore it from a backup, or write the lines that its first line describes", path.display())]
    DamagedFile {
        /// The file or directory.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The storage engine failed.
    #[error("the storage engine of the ledger at {} failed", path.display())]
    Storage {
        /// The store.
        path: PathBuf,
        /// The engine's error.
        source: KvError,
    },
    /// An earlier write failed, so writes are disabled until the ledger is reopened.
    #[error("the ledger at {} accepts no more writes because one failed ({cause}): fix the cause and reopen it", path.display())]
    WritesDisabled {
        /// The store.
        path: PathBuf,
        /// The first failure.
        cause: String,
    },
    /// A value was written by a newer Tome.
    #[error("{family} {key}: unknown {what} {found}: upgrade Tome")]
    UnknownVersion {
        /// The family of the value.
        family: Family,
        /// The key, escaped.
        key: String,
        /// Which number is unknown: `version`, or `tag` for the packing.
        what: &'static str,
        /// The number.
        found: u8,
    },
    /// A key or a value is malformed.
    #[error("{family} {key} is corrupt: {problem}")]
    Corrupt {
        /// The family of the value.
        family: Family,
        /// The key, escaped.
        key: String,
        /// The problem.
        problem: String,
    },
    /// An event cannot be stored. Nothing of its append was acknowledged.
    #[error("event {name} cannot be stored: {problem}")]
    Rejected {
        /// The event's id, or the key of its words.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A node of the contents was changed concurrently.
    #[error("{id} is now at version {latest}, not {seen}: read it again")]
    VersionConflict {
        /// The node.
        id: String,
        /// Its latest version.
        latest: u32,
        /// The version that was expected.
        seen: u32,
    },
    /// A projection's commit does not fit its cursor.
    #[error("projection {projection:?} cannot go from {at} to {upto}: {problem}")]
    InvalidCommit {
        /// The projection.
        projection: String,
        /// The current cursor.
        at: u64,
        /// The cursor in the commit.
        upto: u64,
        /// Why the commit was rejected.
        problem: &'static str,
    },
}

impl LedgerError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn storage(path: &Path) -> impl FnOnce(KvError) -> Self {
        move |source| Self::Storage { path: path.to_owned(), source }
    }

    pub(crate) fn corrupt(family: Family, key: &[u8], problem: impl Into<KvError>) -> Self {
        Self::Corrupt { family, key: escape_key(key), problem: problem.into().to_string() }
    }
}

/// Escapes a key so that people can read it and tools can find it.
pub(crate) fn escape_key(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}
