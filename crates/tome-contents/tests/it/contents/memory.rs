//! A store in memory that outlives the ledger on it, to simulate crashes.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tome_ledger::{
    Durability, Family, KeyRange, KeyValue, KvBatch, KvError, KvPairs, Ledger, ScanDirection,
    StorageEngine,
};

type Families = BTreeMap<Family, BTreeMap<Vec<u8>, Vec<u8>>>;

#[derive(Clone, Default)]
pub(crate) struct Memory {
    families: Arc<Mutex<Families>>,
    /// Number of the write that fails; 0 for none.
    pub(crate) fails_in: Arc<AtomicUsize>,
    /// Keys and values read so far.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Memory {
    /// Opens a ledger on what was written so far.
    pub(crate) fn open(&self) -> Ledger {
        Ledger::with_store(Box::new(self.clone())).unwrap()
    }

    /// Counts the keys and values that `work` reads.
    pub(crate) fn reads_of<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        let before = self.reads.load(Ordering::SeqCst);
        let result = work();
        (self.reads.load(Ordering::SeqCst) - before, result)
    }

    /// Changes every value of a family.
    pub(crate) fn spoil(&self, family: Family, spoil: impl Fn(&mut Vec<u8>)) {
        for value in self.families.lock().unwrap().entry(family).or_default().values_mut() {
            spoil(value);
        }
    }

    /// Removes a family.
    pub(crate) fn lose(&self, family: Family) {
        self.families.lock().unwrap().remove(&family);
    }

    fn next(
        &self,
        family: Family,
        span: &KeyRange,
        direction: ScanDirection,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        if span.is_empty() {
            return None;
        }
        let families = self.families.lock().unwrap();
        let mut range =
            families.get(&family)?.range::<Vec<u8>, _>((span.from.as_ref(), span.to.as_ref()));
        let found = match direction {
            ScanDirection::Forward => range.next(),
            ScanDirection::Backward => range.next_back(),
        };
        found.map(|(key, value)| (key.clone(), value.clone()))
    }
}

impl KeyValue for Memory {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn engine(&self) -> StorageEngine {
        StorageEngine::DEFAULT
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Ok(self.families.lock().unwrap().get(&family).and_then(|one| one.get(key).cloned()))
    }

    fn scan(&self, family: Family, mut span: KeyRange, direction: ScanDirection) -> KvPairs<'_> {
        Box::new(std::iter::from_fn(move || {
            let (key, value) = self.next(family, &span, direction)?;
            self.reads.fetch_add(1, Ordering::SeqCst);
            match direction {
                ScanDirection::Forward => span.from = Bound::Excluded(key.clone()),
                ScanDirection::Backward => span.to = Bound::Excluded(key.clone()),
            }
            Some(Ok((key, value)))
        }))
    }

    fn write(&self, batch: &KvBatch, _: Durability) -> Result<(), KvError> {
        let left = self.fails_in.load(Ordering::SeqCst);
        if left == 1 {
            return Err("killed".into());
        }
        self.fails_in.store(left.saturating_sub(1), Ordering::SeqCst);
        let mut families = self.families.lock().unwrap();
        for op in batch.ops() {
            let family = families.entry(op.family).or_default();
            match op.value {
                Some(value) => family.insert(op.key.to_vec(), value.to_vec()),
                None => family.remove(op.key),
            };
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn flush(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn compact(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn disk_bytes(&self) -> u64 {
        0
    }
}
