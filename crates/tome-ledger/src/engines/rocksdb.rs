//! RocksDB, in builds with the cargo feature `rocksdb`. Families are column families.
//!
//! Every batch goes to the log, which is synced in order on request, so a synced batch makes all
//! earlier ones durable. Closing flushes, so that the next open replays nothing.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    FlushOptions, IteratorMode, Options, ReadOptions, WriteBatch, WriteOptions,
};

use crate::{
    Durability, Family, KeyRange, KeyValue, KvBatch, KvError, KvPairs, ScanDirection,
    StorageEngine, store_file,
};

/// Block cache, shared by all families.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

// Memtable sizes.
const EVENTS_MEMTABLE_BYTES: usize = 8 * 1024 * 1024;
const OTHER_MEMTABLE_BYTES: usize = 4 * 1024 * 1024;

/// Maximum size of the write-ahead log, which is replayed after a crash.
const WAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bloom filter bits per id: about one false positive in a thousand.
const IDS_BLOOM_BITS: f64 = 14.4;

/// Block size of events: large enough to compress well, small enough to decompress for a single event.
const EVENTS_BLOCK_BYTES: usize = 16 * 1024;

pub(crate) struct RocksDb {
    dir: PathBuf,
    db: DB,
}

impl RocksDb {
    pub(crate) fn open(dir: &Path) -> Result<Self, KvError> {
        let cache = Cache::new_lru_cache(CACHE_BYTES);
        let families = Family::ALL.map(|family| {
            ColumnFamilyDescriptor::new(family.as_str(), family_options(family, &cache))
        });
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_max_total_wal_size(WAL_BYTES_MAX);
        options.set_max_background_jobs(2);
        options.set_keep_log_file_num(1);
        let db = DB::open_cf_descriptors(&options, dir, families)?;
        Ok(Self { dir: dir.to_owned(), db })
    }

    fn family(&self, family: Family) -> Result<&ColumnFamily, KvError> {
        let found = self.db.cf_handle(family.as_str());
        found.ok_or_else(|| format!("there is no family {family}").into())
    }
}

impl KeyValue for RocksDb {
    fn path(&self) -> &Path {
        &self.dir
    }

    fn engine(&self) -> StorageEngine {
        StorageEngine::RocksDb
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        Ok(self.db.get_cf(self.family(family)?, key)?)
    }

    fn scan(&self, family: Family, span: KeyRange, direction: ScanDirection) -> KvPairs<'_> {
        if span.is_empty() {
            return Box::new(std::iter::empty());
        }
        let family = match self.family(family) {
            Ok(family) => family,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let mut options = ReadOptions::default();
        if let Some(from) = lower_bound(span.from) {
            options.set_iterate_lower_bound(from);
        }
        if let Some(to) = upper_bound(span.to) {
            options.set_iterate_upper_bound(to);
        }
        let mode = match direction {
            ScanDirection::Forward => IteratorMode::Start,
            ScanDirection::Backward => IteratorMode::End,
        };
        let found = self.db.iterator_cf_opt(family, options, mode);
        Box::new(found.map(|pair| {
            let (key, value) = pair?;
            Ok((key.into_vec(), value.into_vec()))
        }))
    }

    fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), KvError> {
        let mut write = WriteBatch::default();
        for op in batch.ops() {
            let family = self.family(op.family)?;
            match op.value {
                Some(value) => write.put_cf(family, op.key, value),
                None => write.delete_cf(family, op.key),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(durability == Durability::Synced);
        Ok(self.db.write_opt(write, &options)?)
    }

    fn sync(&self) -> Result<(), KvError> {
        Ok(self.db.flush_wal(true)?)
    }

    fn flush(&self) -> Result<(), KvError> {
        let mut families = Vec::with_capacity(Family::ALL.len());
        for family in Family::ALL {
            families.push(self.family(family)?);
        }
        Ok(self.db.flush_cfs_opt(&families, &FlushOptions::default())?)
    }

    fn compact(&self) -> Result<(), KvError> {
        self.flush()?;
        for family in Family::ALL {
            self.db.compact_range_cf::<&[u8], &[u8]>(self.family(family)?, None, None);
        }
        Ok(())
    }

    fn disk_bytes(&self) -> u64 {
        store_file::disk_bytes(&self.dir)
    }
}

impl Drop for RocksDb {
    /// Leaves nothing to replay. If this fails, the next open recovers from the log.
    fn drop(&mut self) {
        let _ = self.flush();
        self.db.cancel_all_background_work(true);
    }
}

fn family_options(family: Family, cache: &Cache) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    if family == Family::Ids {
        // Looked up for every new event, almost always without a hit.
        table.set_bloom_filter(IDS_BLOOM_BITS, false);
    }
    if family == Family::Events {
        table.set_block_size(EVENTS_BLOCK_BYTES);
    }
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(match family {
        Family::Events => EVENTS_MEMTABLE_BYTES,
        _ => OTHER_MEMTABLE_BYTES,
    });
    options
}

/// RocksDB's lower bound is inclusive; the successor of `k` is `k ++ 0x00`.
fn lower_bound(from: Bound<Vec<u8>>) -> Option<Vec<u8>> {
    match from {
        Bound::Included(key) => Some(key),
        Bound::Excluded(key) => Some(successor(key)),
        Bound::Unbounded => None,
    }
}

/// RocksDB's upper bound is exclusive.
fn upper_bound(to: Bound<Vec<u8>>) -> Option<Vec<u8>> {
    match to {
        Bound::Included(key) => Some(successor(key)),
        Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    }
}

fn successor(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
