//! The directory of a store: locked, with a known format and engine.
//!
//! ```text
//! <dir>/STORE  <dir>/LOCK      store_file.rs
//! <dir>/fjall/  or  rocksdb/   the engine's own files
//! ```

use std::path::{Path, PathBuf};

use crate::{
    Durability, Family, KeyRange, KeyValue, KvBatch, KvError, KvPairs, LedgerError, ScanDirection,
    StorageEngine, engines, store_file, store_swap,
};

/// An open and locked store on disk.
pub struct DiskStore {
    /// Must be closed before the lock is released: fields are dropped in declaration order.
    kv: Box<dyn KeyValue>,
    dir: PathBuf,
    _lock: store_file::StoreLock,
}

impl DiskStore {
    /// Opens the store in a directory with the engine it was created with. Creates one with `engine`,
    /// or the default engine, if there is none. If `engine` is given, an existing store must use it.
    pub fn open(dir: &Path, engine: Option<StorageEngine>) -> Result<Self, LedgerError> {
        store_swap::finish(dir)?;
        store_file::create_dir(dir)?;
        let lock = store_file::lock_store(dir)?;
        let found = store_file::read_engine(dir)?;
        if let (Some(found), Some(requested)) = (found, engine)
            && found != requested
        {
            return Err(LedgerError::WrongEngine { path: dir.to_owned(), found, requested });
        }
        let engine = found.or(engine).unwrap_or(StorageEngine::DEFAULT);
        engines::check_available(engine, dir)?;
        if found.is_none() {
            store_file::write_description(dir, engine)?;
        }
        let kv =
            engines::open(engine, &dir.join(engine.as_str())).map_err(LedgerError::storage(dir))?;
        Ok(Self { kv, dir: dir.to_owned(), _lock: lock })
    }
}

impl KeyValue for DiskStore {
    fn path(&self) -> &Path {
        &self.dir
    }

    fn engine(&self) -> StorageEngine {
        self.kv.engine()
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        self.kv.get(family, key)
    }

    fn scan(&self, family: Family, span: KeyRange, direction: ScanDirection) -> KvPairs<'_> {
        self.kv.scan(family, span, direction)
    }

    fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), KvError> {
        self.kv.write(batch, durability)
    }

    fn sync(&self) -> Result<(), KvError> {
        self.kv.sync()
    }

    fn flush(&self) -> Result<(), KvError> {
        self.kv.flush()
    }

    fn compact(&self) -> Result<(), KvError> {
        self.kv.compact()
    }

    fn disk_bytes(&self) -> u64 {
        store_file::disk_bytes(&self.dir)
    }

    fn key_count(&self, family: Family) -> Option<u64> {
        self.kv.key_count(family)
    }

    fn damage(&self) -> Vec<String> {
        self.kv.damage()
    }

    fn verify_files(&self) -> Result<Vec<String>, KvError> {
        self.kv.verify_files()
    }
}
