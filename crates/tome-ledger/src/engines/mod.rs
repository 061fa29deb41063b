//! The storage engines, each a [`KeyValue`] store over its own files.

mod damage_scan;
mod fjall;
mod journal;
mod preflight;
#[cfg(feature = "rocksdb")]
mod rocksdb;
pub(crate) mod salvage;

use std::path::Path;

use crate::{Engine, KeyValue, KvError, LedgerError};

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
