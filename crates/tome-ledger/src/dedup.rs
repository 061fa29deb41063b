//! The entries by which a ledger recognizes repeated words and deliveries, as a backup keeps them.

use crate::limits::BATCH_BYTES_MAX;
use crate::{Durability, Family, KeyRange, KvBatch, Ledger, LedgerError, ScanDirection};

/// The families that hold such entries.
const DEDUP_FAMILIES: [Family; 2] = [Family::Sightings, Family::Deliveries];

/// One entry: its family and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DedupEntry {
    family: Family,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl DedupEntry {
    /// Creates an entry; `None` if the family of this name holds something else.
    pub fn new(family: &str, key: Vec<u8>, value: Vec<u8>) -> Option<Self> {
        let family = DEDUP_FAMILIES.into_iter().find(|known| known.as_str() == family)?;
        Some(Self { family, key, value })
    }

    /// The name of the family.
    pub fn family(&self) -> &'static str {
        self.family.as_str()
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value.
    pub fn value(&self) -> &[u8] {
        &self.value
    }
}

impl Ledger {
    /// Reads the entries for recognizing repeated words and deliveries.
    pub fn dedup_entries(&self) -> impl Iterator<Item = Result<DedupEntry, LedgerError>> + '_ {
        DEDUP_FAMILIES.into_iter().flat_map(move |family| {
            self.scan(family, KeyRange::ALL, ScanDirection::Forward).map(move |pair| {
                let (key, value) = pair?;
                Ok(DedupEntry { family, key, value })
            })
        })
    }

    /// Adds entries that another ledger had, so that this one recognizes the same duplicates. An
    /// entry that exists is kept. An entry without an event does no harm.
    pub fn add_dedup_entries(&self, entries: &[DedupEntry]) -> Result<(), LedgerError> {
        let mut batch = KvBatch::default();
        for entry in entries {
            if self.get(entry.family, &entry.key)?.is_none() {
                batch.put(entry.family, &entry.key, &entry.value);
            }
            if batch.bytes_len() >= BATCH_BYTES_MAX {
                self.write(&batch, Durability::Buffered)?;
                batch.clear();
            }
        }
        self.write(&batch, Durability::Synced)
    }
}
