//! fjall, the default engine: an LSM store in Rust. Families are keyspaces.
//!
//! Tuned for many small, mostly idle stores in one daemon: one worker thread, small caches and
//! memtables. Closing flushes and empties the journal, so that the next open replays nothing; a crash
//! is recovered from the journal.
//!
//! Facts from its source that matter here:
//! - A batch is journaled and synced before it becomes readable, so everything that is read is durable.
//! - Flushed data stays in the journal until 64 MB have been written, and the next open reads and
//!   skips it. Hence `empty_journals`.
//! - The last journal must not be deleted: without one fjall loses its sequence number.
//! - A background flush syncs the journal first, so tables are never ahead of it.
//! - It refuses to open a journal whose end was torn by power loss. Hence `journal.rs`.
//! - A new journal is 64 MiB long, as a sparse file, which backup tools copy in full length. Hence
//!   `shorten_new_journal`.
//! - Its own flush-and-wait never returns if the worker has died of a full disk. Hence the flush on
//!   the caller's thread.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
    PinningPolicy,
};
use fjall::{
    AbstractTree, CompressionType, Database, JournalRecoveryError, Keyspace, KeyspaceCreateOptions,
    OwnedWriteBatch, PersistMode,
};

use xxhash_rust::xxh3::Xxh3;

use super::damage_scan::{self, DamageScan};
use super::{journal, preflight};
use crate::damage::DamageLog;
use crate::{
    Durability, Family, KeyRange, KeyValue, KvBatch, KvError, KvPairs, ScanDirection,
    StorageEngine, store_file,
};

/// Block cache. Reads are served from the files; this keeps filters and indexes in memory.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;

/// Total size of the journals: the smallest value that fjall accepts.
const JOURNALS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Length of a new store's journal. Writing within a file syncs faster than growing it, and most
/// projects write no more than this before the store is closed, which empties the journal.
const NEW_JOURNAL_BYTES: u64 = 1024 * 1024;

/// Open table files. A store of a few hundred megabytes has a few dozen.
const OPEN_FILES_MAX: usize = 64;

// Memtable sizes.
const EVENTS_MEMTABLE_BYTES: u64 = 8 * 1024 * 1024;
const KEYS_MEMTABLE_BYTES: u64 = 4 * 1024 * 1024;

/// Block size of events: large enough to compress well, small enough to decompress for a single event.
const EVENTS_BLOCK_BYTES: u32 = 16 * 1024;

pub(crate) struct Fjall {
    dir: PathBuf,
    /// `None` only while it is being closed.
    open: Option<OpenDatabase>,
    /// Damage that reads have skipped.
    damage: DamageLog,
}

struct OpenDatabase {
    database: Database,
    /// Created at the first write to each: creating one takes some twenty syncs, and the first event of
    /// a project needs only four of them.
    keyspaces: [OnceLock<Keyspace>; Family::ALL.len()],
    /// Held while a keyspace is created.
    creating: Mutex<()>,
}

impl Fjall {
    pub(crate) fn open(dir: &Path) -> Result<Self, KvError> {
        clear_unfinished(dir)?;
        preflight::check_keyspaces(dir)?;
        journal::check_newest_journal(dir)?;
        let replays = has_journal(dir)?;
        let has_no_journal = !dir.try_exists()? || journal::list_journals(dir)?.is_empty();
        let database = open_with_recovery(dir)?;
        if has_no_journal {
            shorten_new_journal(dir)?;
        }
        let open =
            OpenDatabase { database, keyspaces: Default::default(), creating: Mutex::new(()) };
        for family in Family::ALL {
            if open.database.keyspace_exists(family.as_str()) {
                open.keyspace_or_create(family)?;
            }
        }
        if replays {
            // Replayed data may come from the page cache after a failed sync, without being on disk.
            // Flushing writes and syncs new tables; if that fails, writing fails, too.
            let _ = open.flush();
        }
        Ok(Self { dir: dir.to_owned(), open: Some(open), damage: DamageLog::default() })
    }

    fn inner(&self) -> Result<&OpenDatabase, KvError> {
        self.open.as_ref().ok_or_else(|| "the store is being closed".into())
    }
}

impl OpenDatabase {
    /// The keyspace of a family, if it was ever written to.
    fn keyspace(&self, family: Family) -> Option<&Keyspace> {
        self.keyspaces.get(family.index())?.get()
    }

    /// The keyspace of a family, created if necessary.
    fn keyspace_or_create(&self, family: Family) -> Result<&Keyspace, KvError> {
        let slot = self.keyspaces.get(family.index()).ok_or("there is no such family")?;
        if let Some(keyspace) = slot.get() {
            return Ok(keyspace);
        }
        let _one_at_a_time = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        let made = self
            .database
            .keyspace(family.as_str(), || keyspace_options(family))
            .map_err(simplify_error)?;
        Ok(slot.get_or_init(|| made))
    }

    fn existing_keyspaces(&self) -> impl Iterator<Item = &Keyspace> {
        self.keyspaces.iter().filter_map(OnceLock::get)
    }

    /// Moves all memtables into tables, on this thread, so that a failure is returned.
    fn flush(&self) -> Result<(), KvError> {
        // Tables must not be ahead of the journal: after power loss a batch could exist in one family
        // and be missing in another.
        self.database.persist(PersistMode::SyncAll).map_err(simplify_error)?;
        for keyspace in self.existing_keyspaces() {
            keyspace.rotate_memtable().map_err(simplify_error)?;
            let lock = keyspace.tree.get_flush_lock();
            // 0: keep all old versions; compaction removes them.
            keyspace.tree.flush(&lock, 0).map_err(|e| simplify_error(e.into()))?;
        }
        Ok(())
    }
}

impl KeyValue for Fjall {
    fn path(&self) -> &Path {
        &self.dir
    }

    fn engine(&self) -> StorageEngine {
        StorageEngine::Fjall
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        let Some(keyspace) = self.inner()?.keyspace(family) else { return Ok(None) };
        match keyspace.get(key) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(error) if damage_scan::is_damage(&error) => {
                let block = damage_scan::to_damaged_block(family, &error);
                self.damage.record(block.to_string());
                Err(block.into())
            }
            Err(error) => Err(simplify_error(error)),
        }
    }

    fn scan(&self, family: Family, span: KeyRange, direction: ScanDirection) -> KvPairs<'_> {
        if span.is_empty() {
            return Box::new(std::iter::empty());
        }
        let open = match self.inner() {
            Ok(open) => open,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let Some(keyspace) = open.keyspace(family) else {
            return Box::new(std::iter::empty());
        };
        Box::new(DamageScan::new(keyspace, family, span, direction, &self.damage, || open.flush()))
    }

    fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), KvError> {
        let open = self.inner()?;
        let ops = batch.ops();
        let mode = match durability {
            Durability::Synced => PersistMode::SyncData,
            Durability::Buffered => PersistMode::Buffer,
        };
        let mut write =
            OwnedWriteBatch::with_capacity(open.database.clone(), ops.len()).durability(Some(mode));
        for op in ops {
            let keyspace = open.keyspace_or_create(op.family)?;
            match op.value {
                Some(value) => write.insert(keyspace, op.key, value),
                None => write.remove(keyspace, op.key),
            }
        }
        write.commit().map_err(simplify_error)
    }

    fn sync(&self) -> Result<(), KvError> {
        let database = &self.inner()?.database;
        database.persist(PersistMode::SyncData).map_err(simplify_error)
    }

    fn flush(&self) -> Result<(), KvError> {
        self.inner()?.flush()
    }

    fn compact(&self) -> Result<(), KvError> {
        let open = self.inner()?;
        open.flush()?;
        for keyspace in open.existing_keyspaces() {
            keyspace.major_compact().map_err(simplify_error)?;
        }
        Ok(())
    }

    fn disk_bytes(&self) -> u64 {
        store_file::disk_bytes(&self.dir)
    }

    fn key_count(&self, family: Family) -> Option<u64> {
        let count = self.inner().ok()?.keyspace(family).map_or(0, Keyspace::approximate_len);
        u64::try_from(count).ok()
    }

    fn damage(&self) -> Vec<String> {
        self.damage.list()
    }

    /// fjall stores a checksum of each table file, but never verifies it.
    fn verify_files(&self) -> Result<Vec<String>, KvError> {
        let open = self.inner()?;
        let mut findings = Vec::new();
        for keyspace in open.existing_keyspaces() {
            for table in keyspace.tree.current_version().iter_tables() {
                let path = keyspace.path().join("tables").join(table.id().to_string());
                let shown = path.strip_prefix(&self.dir).unwrap_or(&path).display();
                match file_checksum(&path) {
                    Ok(found) if found == table.checksum().into_u128() => {}
                    Ok(_) => findings.push(format!("{shown} does not match its checksum")),
                    Err(error) => findings.push(format!("{shown}: {error}")),
                }
            }
        }
        Ok(findings)
    }
}

impl Drop for Fjall {
    /// Leaves nothing to replay. If this fails, the next open recovers from the journal.
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let flushed = open.flush();
        drop(open);
        if flushed.is_ok() {
            let _ = empty_journals(&self.dir);
        }
    }
}

/// Opens the database. If power loss tore the unsynced end of a journal, that end is cut off first,
/// which loses nothing that was acknowledged.
fn open_with_recovery(dir: &Path) -> Result<Database, KvError> {
    let torn = match open_database(dir) {
        Err(fjall::Error::JournalRecovery(
            torn @ (JournalRecoveryError::ChecksumMismatch
            | JournalRecoveryError::InsufficientLength
            | JournalRecoveryError::TooManyItems),
        )) => torn,
        opened => return opened.map_err(simplify_error),
    };
    let problem = || -> KvError {
        format!(
            "a journal in {} is damaged ({torn:?}), and not only at its unsynced end: restore the \
             ledger from a backup, or repair it from what is still readable",
            dir.display()
        )
        .into()
    };
    let mended = journal::cut_torn_tail(dir)?.ok_or_else(problem)?;
    match open_database(dir) {
        Ok(database) => Ok(database),
        Err(_) => {
            mended.undo()?;
            Err(problem())
        }
    }
}

fn open_database(dir: &Path) -> fjall::Result<Database> {
    Database::builder(dir)
        .cache_size(CACHE_BYTES)
        .max_cached_files(Some(OPEN_FILES_MAX))
        .max_journaling_size(JOURNALS_BYTES_MAX)
        .worker_threads(1)
        // Long values are already compressed.
        .journal_compression(CompressionType::None)
        .open()
}

fn keyspace_options(family: Family) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default().manual_journal_persist(true).max_memtable_size(
        match family {
            Family::Events => EVENTS_MEMTABLE_BYTES,
            _ => KEYS_MEMTABLE_BYTES,
        },
    );
    let lz4 = CompressionPolicy::all(CompressionType::Lz4);
    match family {
        // Looked up for every new event, almost always without a hit. Hashes do not compress.
        Family::Ids => options
            .filter_policy(bloom_filter(0.001))
            .filter_block_pinning_policy(PinningPolicy::all(true)),
        Family::Events => options
            .filter_policy(FilterPolicy::disabled())
            .data_block_size_policy(BlockSizePolicy::all(EVENTS_BLOCK_BYTES))
            .data_block_compression_policy(lz4),
        _ => options.filter_policy(FilterPolicy::disabled()).data_block_compression_policy(lz4),
    }
}

fn file_checksum(path: &Path) -> std::io::Result<u128> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Xxh3::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.digest128()),
            read => hasher.update(chunk.get(..read).unwrap_or_default()),
        }
    }
}

/// Whether a journal has content to replay.
fn has_journal(dir: &Path) -> std::io::Result<bool> {
    if !dir.try_exists()? {
        return Ok(false);
    }
    for (_, path) in journal::list_journals(dir)? {
        if journal::has_content(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bloom_filter(false_positives: f32) -> FilterPolicy {
    FilterPolicy::all(FilterPolicyEntry::Bloom(BloomConstructionPolicy::FalsePositiveRate(
        false_positives,
    )))
}

/// Removes the remains of an interrupted creation, on which fjall would fail. Without a single keyspace
/// there should be no data; if a journal has content anyway, the folder is renamed instead of removed.
fn clear_unfinished(dir: &Path) -> std::io::Result<()> {
    if !dir.try_exists()? {
        return Ok(());
    }
    let keyspaces = dir.join("keyspaces");
    let finished = keyspaces.try_exists()? && std::fs::read_dir(keyspaces)?.next().is_some();
    if finished {
        return Ok(());
    }
    for (_, path) in journal::list_journals(dir)? {
        if journal::has_content(&path)? {
            return std::fs::rename(dir, find_free_name(dir)?);
        }
    }
    std::fs::remove_dir_all(dir)
}

/// Finds the first unused name like `fjall-aside-1` beside a folder.
fn find_free_name(dir: &Path) -> std::io::Result<PathBuf> {
    for number in 1u32.. {
        let mut name = dir.as_os_str().to_owned();
        name.push(format!("-aside-{number}"));
        let path = PathBuf::from(name);
        if !path.try_exists()? {
            return Ok(path);
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

/// Shortens the journal that fjall has just created, before anything is written to it. fjall writes
/// at its own offset, so the file grows again as needed. Later journals, which follow after 64 MB,
/// keep their length: shortening one that is being written to could cut off a batch.
fn shorten_new_journal(dir: &Path) -> std::io::Result<()> {
    for (_, path) in journal::list_journals(dir)? {
        std::fs::OpenOptions::new().write(true).open(path)?.set_len(NEW_JOURNAL_BYTES)?;
    }
    Ok(())
}

/// Empties the journals of a closed database whose memtables are all flushed. The newest one stays as
/// an empty file, because without it the sequence numbers would restart.
fn empty_journals(dir: &Path) -> std::io::Result<()> {
    let mut journals = journal::list_journals(dir)?;
    let newest = journals.pop();
    // Oldest first, so that a crash in between leaves a sequence without gaps.
    for (_, path) in &journals {
        std::fs::remove_file(path)?;
    }
    if let Some((_, path)) = newest {
        let file = std::fs::OpenOptions::new().write(true).open(path)?;
        file.set_len(0)?;
        file.sync_all()?;
    }
    store_file::sync_dir(dir)
}

/// Simplifies fjall's errors, which print as code, to their cause.
fn simplify_error(error: fjall::Error) -> KvError {
    match error {
        fjall::Error::Io(error) => error.into(),
        fjall::Error::Poisoned => {
            "fjall accepts no writes after a background failure; the disk may be full".into()
        }
        error => error.into(),
    }
}
