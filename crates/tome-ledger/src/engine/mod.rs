//! The storage engines.

mod damage_scan;
mod fjall;
mod journal;
mod preflight;
#[cfg(feature = "rocksdb")]
mod rocksdb;
pub(crate) mod salvage;

use std::path::Path;

use crate::{KeyValue, KvError, LedgerError};

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// fjall, an LSM store in Rust.
    Fjall,
    /// RocksDB, in builds with the cargo feature `rocksdb`.
    RocksDb,
}

impl Engine {
    /// The engine of new stores, unless configured otherwise.
    pub const DEFAULT: Self = Self::Fjall;

    /// The engines in this build.
    pub const AVAILABLE: &[Self] = &[
        Self::Fjall,
        #[cfg(feature = "rocksdb")]
        Self::RocksDb,
    ];

    /// The name in `STORE` and in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::RocksDb => "rocksdb",
        }
    }

    /// Finds an engine by name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Fjall, Self::RocksDb].into_iter().find(|engine| engine.as_str() == name)
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Rejects an engine that is not part of this build, before anything is written.
pub(crate) fn check_available(engine: Engine, store: &Path) -> Result<(), LedgerError> {
    if Engine::AVAILABLE.contains(&engine) {
        Ok(())
    } else {
        Err(LedgerError::EngineUnavailable { path: store.to_owned(), engine })
    }
}

/// Makes a database openable if only its journal is damaged: cuts off the damage and everything after
/// it, and keeps a copy of the file.
pub(crate) fn cut_damaged_journals(engine: Engine, dir: &Path) -> Result<(), KvError> {
    match engine {
        Engine::Fjall => journal::cut_all(dir),
        Engine::RocksDb => Ok(()),
    }
}

/// Opens or creates the engine's files in `dir`.
pub(crate) fn open(engine: Engine, dir: &Path) -> Result<Box<dyn KeyValue>, KvError> {
    match engine {
        Engine::Fjall => Ok(Box::new(fjall::Fjall::open(dir)?)),
        #[cfg(feature = "rocksdb")]
        Engine::RocksDb => Ok(Box::new(rocksdb::RocksDb::open(dir)?)),
        #[cfg(not(feature = "rocksdb"))]
        Engine::RocksDb => Err("this build has no rocksdb".into()),
    }
}
