//! The storage engines, each a [`KeyValue`] store over its own files.

mod damage_scan;
mod fjall;
mod journal;
mod preflight;
#[cfg(feature = "rocksdb")]
mod rocksdb;
pub(crate) mod salvage;

use std::path::Path;

use crate::{KeyValue, KvError, LedgerError, StorageEngine};

/// Rejects an engine that is not part of this build, before anything is written.
pub(crate) fn check_available(engine: StorageEngine, store: &Path) -> Result<(), LedgerError> {
    if StorageEngine::AVAILABLE.contains(&engine) {
        Ok(())
    } else {
        Err(LedgerError::EngineUnavailable { path: store.to_owned(), engine })
    }
}

/// Makes a database openable if only its journal is damaged: cuts off the damage and everything after
/// it, and keeps a copy of the file.
pub(crate) fn cut_damaged_journals(engine: StorageEngine, dir: &Path) -> Result<(), KvError> {
    match engine {
        StorageEngine::Fjall => journal::cut_all(dir),
        StorageEngine::RocksDb => Ok(()),
    }
}

/// Opens or creates the engine's files in `dir`.
pub(crate) fn open(engine: StorageEngine, dir: &Path) -> Result<Box<dyn KeyValue>, KvError> {
    match engine {
        StorageEngine::Fjall => Ok(Box::new(fjall::Fjall::open(dir)?)),
        #[cfg(feature = "rocksdb")]
        StorageEngine::RocksDb => Ok(Box::new(rocksdb::RocksDb::open(dir)?)),
        #[cfg(not(feature = "rocksdb"))]
        StorageEngine::RocksDb => Err("this build has no rocksdb".into()),
    }
}
