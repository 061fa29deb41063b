//! What can go wrong with a ledger, and what to do about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{Engine, Family};

/// What a storage engine says when something goes wrong.
pub type KvError = Box<dyn std::error::Error + Send + Sync>;

/// What can go wrong with a ledger.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store's path is something else than a directory.
    #[error("{} is not a directory: move it away or choose another path for the ledger", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Another process, or another part of this one, has the store open.
    #[error("the ledger at {} is in use by another process: stop it first", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// The store was made with the other engine.
    #[error("the ledger at {} was made with {found}, not {asked}: open it with {found}", path.display())]
    WrongEngine {
        /// The store.
        path: PathBuf,
        /// The engine it was made with.
        found: Engine,
        /// The engine that was asked for.
        asked: Engine,
    },
    /// The store was made with an engine that this build does not have.
    #[error("the ledger at {} needs {engine}: use a build with the cargo feature `{engine}`", path.display())]
    EngineMissing {
        /// The store.
        path: PathBuf,
        /// The engine it needs.
        engine: Engine,
    },
    /// The store was written by a newer Tome.
    #[error("the ledger at {} has format {found}, this Tome knows up to {known}: upgrade Tome", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The store's own description cannot be read.
    #[error("{} is damaged ({problem}): restore it from a backup, or write the lines that its first line describes", path.display())]
    Damaged {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The storage engine failed.
    #[error("the storage engine of the ledger at {} failed", path.display())]
    Storage {
        /// The store.
        path: PathBuf,
        /// What the engine said.
        source: KvError,
    },
    /// An earlier write failed, so nothing can be written until the ledger is opened again.
    #[error("the ledger at {} takes no more writes because one failed ({cause}): mend the cause and reopen it", path.display())]
    Refusing {
        /// The store.
        path: PathBuf,
        /// What the first failure was.
        cause: String,
    },
    /// A value was written by a newer Tome.
    #[error("{family} {key}: {what} {found} is not known here: upgrade Tome")]
    UnknownVersion {
        /// The family of the value.
        family: Family,
        /// Its key, readable.
        key: String,
        /// Which number it is: `version`, or `tag` for how it is packed.
        what: &'static str,
        /// The number.
        found: u8,
    },
    /// A key or a value does not say what it has to.
    #[error("{family} {key} is corrupt: {problem}")]
    Corrupt {
        /// The family of the value.
        family: Family,
        /// Its key, readable.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An event cannot be stored. Nothing of the append that held it was acknowledged.
    #[error("event {name} cannot be stored: {problem}")]
    Rejected {
        /// Its id, or the key of its words.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A node of the contents was changed by somebody else in the meantime.
    #[error("{id} is at version {latest} by now, not {seen}: look again")]
    Changed {
        /// The node.
        id: String,
        /// Its latest version.
        latest: u32,
        /// The version that was expected.
        seen: u32,
    },
    /// A worker reported a position that cannot be.
    #[error("worker {worker:?} cannot go from {at} to {upto}: {problem}")]
    Cursor {
        /// The worker.
        worker: String,
        /// Where it stands.
        at: u64,
        /// Where it says it is.
        upto: u64,
        /// Why that cannot be.
        problem: &'static str,
    },
}

impl LedgerError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn corrupt(family: Family, key: &[u8], problem: impl Into<KvError>) -> Self {
        Self::Corrupt { family, key: readable(key), problem: problem.into().to_string() }
    }
}

/// A key as a person can read it and a tool can find it.
pub(crate) fn readable(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}
