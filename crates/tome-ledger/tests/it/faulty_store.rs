//! A wrapper around a store that counts, waits and fails on demand.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tome_ledger::{
    DiskStore, Durability, Family, KeyRange, KeyValue, KvBatch, KvError, KvPairs, Ledger,
    ScanDirection, StorageEngine,
};

/// Counters and switches for the tests.
#[derive(Default)]
pub(crate) struct Controls {
    pub(crate) writes: AtomicUsize,
    pub(crate) syncs: AtomicUsize,
    pub(crate) fail_writes: AtomicBool,
    pub(crate) fail_syncs: AtomicBool,
    pub(crate) fail_reads: AtomicBool,
    /// Held by a test to block the writer.
    pub(crate) gate: Mutex<()>,
}

pub(crate) struct FaultyStore {
    store: DiskStore,
    controls: Arc<Controls>,
}

/// A ledger on a faulty_store store.
pub(crate) fn open(dir: &Path, engine: StorageEngine) -> (Ledger, Arc<Controls>) {
    let controls = Arc::new(Controls::default());
    let store = FaultyStore {
        store: DiskStore::open(dir, Some(engine)).unwrap(),
        controls: Arc::clone(&controls),
    };
    (Ledger::with_store(Box::new(store)).unwrap(), controls)
}

fn fail_if(flag: &AtomicBool, message: &str) -> Result<(), KvError> {
    if flag.load(Ordering::SeqCst) {
        return Err(std::io::Error::other(message).into());
    }
    Ok(())
}

impl KeyValue for FaultyStore {
    fn path(&self) -> &Path {
        self.store.path()
    }

    fn engine(&self) -> StorageEngine {
        self.store.engine()
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        fail_if(&self.controls.fail_reads, "unreadable sector")?;
        self.store.get(family, key)
    }

    fn scan(&self, family: Family, span: KeyRange, direction: ScanDirection) -> KvPairs<'_> {
        self.store.scan(family, span, direction)
    }

    fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), KvError> {
        drop(self.controls.gate.lock().unwrap());
        self.controls.writes.fetch_add(1, Ordering::SeqCst);
        fail_if(&self.controls.fail_writes, "no space left on device")?;
        if durability == Durability::Synced {
            self.controls.syncs.fetch_add(1, Ordering::SeqCst);
            if self.controls.fail_syncs.load(Ordering::SeqCst) {
                // The worst case: the data is in the page cache, and may or may not be on disk.
                self.store.write(batch, Durability::Buffered)?;
                fail_if(&self.controls.fail_syncs, "input/output error")?;
            }
        }
        self.store.write(batch, durability)
    }

    fn sync(&self) -> Result<(), KvError> {
        self.controls.syncs.fetch_add(1, Ordering::SeqCst);
        fail_if(&self.controls.fail_syncs, "input/output error")?;
        self.store.sync()
    }

    fn flush(&self) -> Result<(), KvError> {
        self.store.flush()
    }

    fn compact(&self) -> Result<(), KvError> {
        self.store.compact()
    }

    fn disk_bytes(&self) -> u64 {
        self.store.disk_bytes()
    }
}
