//! fjall, the default engine: an LSM store in Rust. Families are its keyspaces.
//!
//! Tuned for many small stores in one daemon that sleeps most of the time: one worker thread,
//! small caches and memtables. Closing flushes and empties the journal, so that the next open
//! replays nothing; a crash is recovered from the journal.
//!
//! What was found in its source and matters here:
//! - A batch is written to the journal and synced before it can be read, so what is seen is safe.
//! - Everything that was flushed stays in the journal until 64 MB have been written, and is read
//!   and skipped by the next open. Hence `empty_journals`.
//! - The journal is never deleted as a whole: without one fjall forgets its sequence number.
//! - A background flush syncs the journal first, so tables are never ahead of it.
//! - It does not open a journal whose end was torn by power loss. Hence `journal.rs`.
//! - The journal is 64 MiB long from the start, as a hole that takes no room.
//! - Its own way to flush and wait never returns if the worker has died of a full disk. Hence the
//!   flush on the caller's thread.

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

use super::careful::{self, CarefulScan};
use super::{guard, journal};
use crate::damage::DamageLog;
use crate::{
    Batch, Direction, Durability, Engine, Family, KeyValue, KvError, Pairs, Span, store_file,
};

/// Blocks of tables that were read last. Answers come from the files; this keeps filters and
/// indexes close.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;

/// Journals are dropped when all of their content is in tables; this is the least that fjall takes.
const JOURNALS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Open table files. A store of a few hundred megabytes has some dozens.
const OPEN_FILES_MAX: usize = 64;

/// What a family holds in memory before it becomes a table.
const EVENTS_MEMTABLE_BYTES: u64 = 8 * 1024 * 1024;
const KEYS_MEMTABLE_BYTES: u64 = 4 * 1024 * 1024;

/// Events are compressed in blocks of this size: enough neighbours to learn from, little enough
/// to unpack for one event.
const EVENTS_BLOCK_BYTES: u32 = 16 * 1024;

/// An open fjall database.
pub(crate) struct Fjall {
    dir: PathBuf,
    /// Gone only while it is being closed.
    open: Option<Open>,
    /// Damage that reads have skipped.
    damage: DamageLog,
}

struct Open {
    database: Database,
    /// Made when they are first written to: making one takes some twenty syncs, and the first event
    /// of a project needs only four of them.
    keyspaces: [OnceLock<Keyspace>; Family::ALL.len()],
    /// Held while one is made.
    creating: Mutex<()>,
}

impl Fjall {
    pub(crate) fn open(dir: &Path) -> Result<Self, KvError> {
        clear_unfinished(dir)?;
        guard::refuse_doomed_keyspaces(dir)?;
        journal::refuse_rot(dir)?;
        let replays = has_journal(dir)?;
        let database = open_mended(dir)?;
        let open = Open { database, keyspaces: Default::default(), creating: Mutex::new(()) };
        for family in Family::ALL {
            if open.database.keyspace_exists(family.as_str()) {
                open.make(family)?;
            }
        }
        if replays {
            // What was replayed may have come from the system's cache after a sync that failed, and
            // be on no disk. Tables are written and synced anew; if that fails, writing fails too.
            let _ = open.flush();
        }
        Ok(Self { dir: dir.to_owned(), open: Some(open), damage: DamageLog::default() })
    }

    fn inner(&self) -> Result<&Open, KvError> {
        self.open.as_ref().ok_or_else(|| "it is being closed".into())
    }
}

impl Open {
    /// The keyspace of a family, if anything was ever written to it.
    fn keyspace(&self, family: Family) -> Option<&Keyspace> {
        self.keyspaces.get(family.index())?.get()
    }

    /// The keyspace of a family, made if it is not there.
    fn make(&self, family: Family) -> Result<&Keyspace, KvError> {
        let slot = self.keyspaces.get(family.index()).ok_or("there is no such family")?;
        if let Some(keyspace) = slot.get() {
            return Ok(keyspace);
        }
        let _one_at_a_time = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        let made = self.database.keyspace(family.as_str(), || options(family)).map_err(plain)?;
        Ok(slot.get_or_init(|| made))
    }

    fn made(&self) -> impl Iterator<Item = &Keyspace> {
        self.keyspaces.iter().filter_map(OnceLock::get)
    }

    /// Moves all memtables into tables, on this thread, so that a failure is told and not waited
    /// for.
    fn flush(&self) -> Result<(), KvError> {
        // A table must not be ahead of the journal: after power loss its batch would be there in
        // one family and missing in another.
        self.database.persist(PersistMode::SyncAll).map_err(plain)?;
        for keyspace in self.made() {
            keyspace.rotate_memtable().map_err(plain)?;
            let lock = keyspace.tree.get_flush_lock();
            // 0: no old version is dropped here, compaction does that.
            keyspace.tree.flush(&lock, 0).map_err(|e| plain(e.into()))?;
        }
        Ok(())
    }
}

impl KeyValue for Fjall {
    fn path(&self) -> &Path {
        &self.dir
    }

    fn engine(&self) -> Engine {
        Engine::Fjall
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError> {
        let Some(keyspace) = self.inner()?.keyspace(family) else { return Ok(None) };
        match keyspace.get(key) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(error) if careful::is_damage(&error) => {
                let block = careful::damaged(family, &error);
                self.damage.record(block.to_string());
                Err(block.into())
            }
            Err(error) => Err(plain(error)),
        }
    }

    fn scan(&self, family: Family, span: Span, direction: Direction) -> Pairs<'_> {
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
        Box::new(CarefulScan::new(keyspace, family, span, direction, &self.damage, || open.flush()))
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        let open = self.inner()?;
        let ops = batch.ops();
        let mode = match durability {
            Durability::Synced => PersistMode::SyncData,
            Durability::Buffered => PersistMode::Buffer,
        };
        let mut write =
            OwnedWriteBatch::with_capacity(open.database.clone(), ops.len()).durability(Some(mode));
        for op in ops {
            let keyspace = open.make(op.family)?;
            match op.value {
                Some(value) => write.insert(keyspace, op.key, value),
                None => write.remove(keyspace, op.key),
            }
        }
        write.commit().map_err(plain)
    }

    fn sync(&self) -> Result<(), KvError> {
        let database = &self.inner()?.database;
        database.persist(PersistMode::SyncData).map_err(plain)
    }

    fn flush(&self) -> Result<(), KvError> {
        self.inner()?.flush()
    }

    fn compact(&self) -> Result<(), KvError> {
        let open = self.inner()?;
        open.flush()?;
        for keyspace in open.made() {
            keyspace.major_compact().map_err(plain)?;
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

    /// fjall notes a checksum of each whole table when it writes it, and never looks at it again.
    fn verify_files(&self) -> Result<Vec<String>, KvError> {
        let open = self.inner()?;
        let mut findings = Vec::new();
        for keyspace in open.made() {
            for table in keyspace.tree.current_version().iter_tables() {
                let path = keyspace.path().join("tables").join(table.id().to_string());
                let shown = path.strip_prefix(&self.dir).unwrap_or(&path).display();
                match checksum(&path) {
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
    /// Leaves nothing to replay. Whatever fails here is recovered from the journal by the next open.
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let flushed = open.flush();
        drop(open);
        if flushed.is_ok() {
            let _ = empty_journals(&self.dir);
        }
    }
}

/// Opens the database. A journal whose unsynced end was torn by power loss is cut first, which
/// loses nothing that was acknowledged.
fn open_mended(dir: &Path) -> Result<Database, KvError> {
    let torn = match open_database(dir) {
        Err(fjall::Error::JournalRecovery(
            torn @ (JournalRecoveryError::ChecksumMismatch
            | JournalRecoveryError::InsufficientLength
            | JournalRecoveryError::TooManyItems),
        )) => torn,
        opened => return opened.map_err(plain),
    };
    let problem = || -> KvError {
        format!(
            "a journal in {} is damaged ({torn:?}), and not only at its unsynced end: restore the \
             ledger from a backup, or repair it from what can still be read",
            dir.display()
        )
        .into()
    };
    let mended = journal::mend(dir)?.ok_or_else(problem)?;
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
        // Long values are compressed before they come here.
        .journal_compression(CompressionType::None)
        .open()
}

fn options(family: Family) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default().manual_journal_persist(true).max_memtable_size(
        match family {
            Family::Events => EVENTS_MEMTABLE_BYTES,
            _ => KEYS_MEMTABLE_BYTES,
        },
    );
    let lz4 = CompressionPolicy::all(CompressionType::Lz4);
    match family {
        // Asked about every new event, and almost always the answer is no. Hashes do not compress.
        Family::Ids => options
            .filter_policy(bloom(0.001))
            .filter_block_pinning_policy(PinningPolicy::all(true)),
        Family::Events => options
            .filter_policy(FilterPolicy::disabled())
            .data_block_size_policy(BlockSizePolicy::all(EVENTS_BLOCK_BYTES))
            .data_block_compression_policy(lz4),
        _ => options.filter_policy(FilterPolicy::disabled()).data_block_compression_policy(lz4),
    }
}

fn checksum(path: &Path) -> std::io::Result<u128> {
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

/// Whether there is anything to replay.
fn has_journal(dir: &Path) -> std::io::Result<bool> {
    if !dir.try_exists()? {
        return Ok(false);
    }
    for (_, path) in journal::journals(dir)? {
        if journal::has_content(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bloom(false_positives: f32) -> FilterPolicy {
    FilterPolicy::all(FilterPolicyEntry::Bloom(BloomConstructionPolicy::FalsePositiveRate(
        false_positives,
    )))
}

/// Takes away what a creation that was cut short has left behind, which fjall would stumble over.
/// Without a single keyspace, not even its own, there should be nothing worth keeping; if a journal
/// has content all the same, the folder is renamed and not removed.
fn clear_unfinished(dir: &Path) -> std::io::Result<()> {
    if !dir.try_exists()? {
        return Ok(());
    }
    let keyspaces = dir.join("keyspaces");
    let finished = keyspaces.try_exists()? && std::fs::read_dir(keyspaces)?.next().is_some();
    if finished {
        return Ok(());
    }
    for (_, path) in journal::journals(dir)? {
        if journal::has_content(&path)? {
            return std::fs::rename(dir, free_name(dir)?);
        }
    }
    std::fs::remove_dir_all(dir)
}

/// The first name like `fjall-aside-1` beside a folder that is not taken.
fn free_name(dir: &Path) -> std::io::Result<PathBuf> {
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

/// Empties the journals of a closed database whose memtables have all been flushed. The newest
/// stays, empty: its absence would reset the sequence numbers.
fn empty_journals(dir: &Path) -> std::io::Result<()> {
    let mut journals = journal::journals(dir)?;
    let newest = journals.pop();
    // The oldest first: what is left after a crash in between is still a row without gaps.
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

/// fjall prints its errors as code; what lies below says more.
fn plain(error: fjall::Error) -> KvError {
    match error {
        fjall::Error::Io(error) => error.into(),
        fjall::Error::Poisoned => {
            "fjall refuses writes since it failed in the background; often the disk is full".into()
        }
        error => error.into(),
    }
}
