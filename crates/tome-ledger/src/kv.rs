//! The ordered key-value store under the ledger: families of sorted keys, atomic batches across them,
//! scans in both directions, and a sync.
//!
//! An engine must guarantee that a batch is written completely or not at all, also after a crash, and
//! that a batch written as `Synced` survives power loss, together with every earlier batch.

use std::ops::Bound;
use std::path::Path;

use crate::{Family, KvBatch, KvError, StorageEngine};

/// The failures that a write survives once it has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Power loss.
    Synced,
    /// A crash of this process, but not of the machine.
    Buffered,
}

/// The direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScanDirection {
    /// Oldest first.
    #[default]
    Forward,
    /// Newest first.
    Backward,
}

/// A key and its value.
pub type KvPair = (Vec<u8>, Vec<u8>);

/// A lazy iterator over keys and values.
pub type KvPairs<'a> = Box<dyn Iterator<Item = Result<KvPair, KvError>> + Send + 'a>;

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// Lower bound.
    pub from: Bound<Vec<u8>>,
    /// Upper bound.
    pub to: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub const ALL: Self = Self { from: Bound::Unbounded, to: Bound::Unbounded };

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { from: Bound::Included(prefix.to_vec()), to: prefix_end(prefix) }
    }

    /// Whether the range cannot contain a key. Engines panic or fail on such a range.
    pub fn is_empty(&self) -> bool {
        use Bound::{Excluded, Included, Unbounded};
        match (&self.from, &self.to) {
            (Unbounded, _) | (_, Unbounded) => false,
            (Included(from), Included(to)) => from > to,
            (Included(from) | Excluded(from), Included(to) | Excluded(to)) => from >= to,
        }
    }
}

/// The upper bound of all keys that begin with `prefix`.
fn prefix_end(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}

/// An ordered key-value store. Keys are not empty and shorter than 64 KiB.
pub trait KeyValue: Send + Sync {
    /// The directory of the store.
    fn path(&self) -> &Path;

    /// The storage engine.
    fn engine(&self) -> StorageEngine;

    /// Returns the value of a key.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError>;

    /// Iterates over the keys of a range, in either direction.
    fn scan(&self, family: Family, span: KeyRange, direction: ScanDirection) -> KvPairs<'_>;

    /// Writes a batch atomically.
    fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), KvError>;

    /// Makes all previous writes survive power loss.
    fn sync(&self) -> Result<(), KvError>;

    /// Moves memtables into tables, so that the next open has nothing to replay.
    fn flush(&self) -> Result<(), KvError>;

    /// Rewrites the tables without obsolete entries.
    fn compact(&self) -> Result<(), KvError>;

    /// Bytes used on disk.
    fn disk_bytes(&self) -> u64;

    /// Number of keys in a family, if the engine has it without reading them. Exact for families whose
    /// keys are never overwritten or deleted.
    fn key_count(&self, _family: Family) -> Option<u64> {
        None
    }

    /// Damage that reads have skipped since the store was opened.
    fn damage(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks every file against its checksum and returns the mismatches.
    fn verify_files(&self) -> Result<Vec<String>, KvError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_spans_exactly_its_keys() {
        let span = KeyRange::prefix(b"a\xff");
        assert_eq!(span.from, Bound::Included(b"a\xff".to_vec()));
        assert_eq!(span.to, Bound::Excluded(b"b".to_vec()));
        assert_eq!(KeyRange::prefix(b"\xff").to, Bound::Unbounded);
        assert_eq!(
            KeyRange::prefix(b""),
            KeyRange { from: Bound::Included(vec![]), to: Bound::Unbounded }
        );
    }
}
