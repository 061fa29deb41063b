//! The storage engines: which there are, and how one is opened.

mod careful;
mod fjall;
mod guard;
mod journal;
#[cfg(feature = "rocksdb")]
mod rocksdb;
pub(crate) mod salvage;

use std::path::Path;

use crate::{KeyValue, KvError, LedgerError};

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// An LSM store in Rust.
    Fjall,
    /// The LSM store of RocksDB, in a build with the cargo feature `rocksdb`.
    RocksDb,
}

impl Engine {
    /// What a new store is made with unless something else is asked for.
    pub const DEFAULT: Self = Self::Fjall;

    /// The engines that this build has.
    pub const BUILT: &[Self] = &[
        Self::Fjall,
        #[cfg(feature = "rocksdb")]
        Self::RocksDb,
    ];

    /// The name, as it stands in `STORE` and in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::RocksDb => "rocksdb",
        }
    }

    /// The engine of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Fjall, Self::RocksDb].into_iter().find(|engine| engine.as_str() == name)
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Refuses an engine that this build does not have, before anything is written.
pub(crate) fn check_built(engine: Engine, store: &Path) -> Result<(), LedgerError> {
    if Engine::BUILT.contains(&engine) {
        Ok(())
    } else {
        Err(LedgerError::EngineMissing { path: store.to_owned(), engine })
    }
}

/// Makes the engine's files in `dir` openable where only the journal is damaged: the damage, and
/// everything behind it, is cut after a copy of the file was kept.
pub(crate) fn cut_damaged_journals(engine: Engine, dir: &Path) -> Result<(), KvError> {
    match engine {
        Engine::Fjall => journal::cut_all(dir),
        Engine::RocksDb => Ok(()),
    }
}

/// Opens the engine's files in `dir`, or makes them.
pub(crate) fn open(engine: Engine, dir: &Path) -> Result<Box<dyn KeyValue>, KvError> {
    match engine {
        Engine::Fjall => Ok(Box::new(fjall::Fjall::open(dir)?)),
        #[cfg(feature = "rocksdb")]
        Engine::RocksDb => Ok(Box::new(rocksdb::RocksDb::open(dir)?)),
        #[cfg(not(feature = "rocksdb"))]
        Engine::RocksDb => Err("this build has no rocksdb".into()),
    }
}
