//! Repairs a damaged store: builds a new one from everything that can still be read and swaps it with
//! the old one, which is kept beside it.
//!
//! ```text
//! <ledger>-repairing/    the new store while it is built                                 store_swap.rs
//! <ledger>-damaged-1/    the old store
//! ```
//!
//! Events come from the old store's files, block by block, and from second copies that the caller
//! supplies. An event keeps its number if that is known, so that projections do not process it again.
//! Derived data is copied if every family of it has entries and all can be read. Otherwise it is
//! dropped, together with the cursors, so that the projections rebuild it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use tome_model::{Draft, Event, EventId, Millis, SessionId};
use xxhash_rust::xxh3::xxh3_128;

use crate::counts::{self, StoreCounts};
use crate::engines::{self, salvage};
use crate::limits::{BATCH_BYTES_MAX, DAMAGED_FOLDERS_MAX};
use crate::outbox::OutboxRun;
use crate::{
    DiskStore, Durability, EventPosition, Family, KeyRange, KeyValue, KvBatch, LedgerError,
    ScanDirection, StorageEngine, cursor_value, event_value, key, store_file, store_swap,
};

/// Families derived from events, except session statistics, which are recounted.
const DERIVED: [Family; 4] =
    [Family::Checkpoints, Family::TocNodes, Family::TocLatest, Family::Grips];

/// The outcome of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairReport {
    /// Events read from the old store.
    pub kept: u64,
    /// Events restored from second copies.
    pub restored: u64,
    /// Acknowledged events that could not be recovered.
    pub lost: u64,
    /// Whether all derived data must be rebuilt.
    pub derived_dropped: bool,
    /// The new path of the old store.
    pub set_aside: PathBuf,
}

/// Rebuilds the store in a directory from what can be read of it and from second copies of its events.
/// The store must not be open. The projection `recounted` starts again from the beginning, because its
/// results are totals that cannot be corrected per event.
pub fn repair(
    dir: &Path,
    copies: &mut dyn Iterator<Item = Event>,
    recounted: &str,
) -> Result<RepairReport, LedgerError> {
    store_swap::finish(dir)?;
    let lock = store_file::lock_store(dir)?;
    let engine = detect_engine(dir)?;
    engines::check_available(engine, dir)?;
    let known = counts::read_or_default(dir);
    let building = store_swap::building_path(dir);
    remove_folder(&building)?;
    let mut rebuild = StoreRebuild::new(DiskStore::open(&building, Some(engine))?);
    if engine == StorageEngine::Fjall {
        salvage::visit_events(dir, &mut |key, value| rebuild.add_stored(key, value))?;
    }
    let old = open_damaged_store(dir, engine);
    if let Some(old) = &old {
        rebuild.add_readable(old.as_ref())?;
    }
    let kept = rebuild.count();
    for event in copies {
        let number = old.as_ref().and_then(|old| find_seq(old.as_ref(), &event));
        rebuild.add_copy(event, number)?;
    }
    let highest = old.as_ref().and_then(|old| find_highest_seq(old.as_ref())).unwrap_or(0);
    let highest = highest.max(known.last_seq).max(rebuild.highest_seq());
    let expected = highest.saturating_sub(known.missing);
    let last_seq = rebuild.number_late_events(highest)?;
    let total = rebuild.count();
    if let Some(old) = &old {
        rebuild.copy_dedup_entries(old.as_ref())?;
    }
    let derived_dropped = match &old {
        Some(old) => !rebuild.copy_derived(old.as_ref(), recounted, last_seq)?,
        None => true,
    };
    drop(old);
    rebuild.put_outbox()?;
    rebuild.close()?;
    let missing = last_seq.saturating_sub(total);
    counts::write(&building, StoreCounts { last_seq, missing, ..StoreCounts::default() })?;
    store_swap::mark_complete(&building)?;
    let set_aside = find_free_name(dir)?;
    drop(lock);
    std::fs::rename(dir, &set_aside).map_err(LedgerError::io("rename", dir))?;
    store_swap::finish(dir)?;
    let lost = expected.saturating_sub(total);
    Ok(RepairReport { kept, restored: total - kept, lost, derived_dropped, set_aside })
}

fn find_free_name(dir: &Path) -> Result<PathBuf, LedgerError> {
    let mut names =
        (1..=DAMAGED_FOLDERS_MAX).map(|n| store_swap::sibling_path(dir, &format!("-damaged-{n}")));
    names.find(|path| !path.exists()).ok_or_else(|| {
        let full = std::io::Error::other("too many damaged folders are beside it: remove some");
        LedgerError::io("set aside", dir)(full)
    })
}

fn remove_folder(dir: &Path) -> Result<(), LedgerError> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LedgerError::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
}

/// Determines the engine of a store whose description may be damaged.
fn detect_engine(dir: &Path) -> Result<StorageEngine, LedgerError> {
    match store_file::read_engine(dir) {
        Ok(Some(engine)) => Ok(engine),
        Ok(None) | Err(LedgerError::DamagedFile { .. }) => {
            let is_rocksdb = dir.join(StorageEngine::RocksDb.as_str()).is_dir();
            Ok(if is_rocksdb { StorageEngine::RocksDb } else { StorageEngine::DEFAULT })
        }
        Err(error) => Err(error),
    }
}

/// Opens the old store if possible, cutting damaged journals if necessary.
fn open_damaged_store(dir: &Path, engine: StorageEngine) -> Option<Box<dyn KeyValue>> {
    let files = dir.join(engine.as_str());
    if !files.is_dir() {
        return None;
    }
    engines::open(engine, &files)
        .or_else(|_| {
            engines::cut_damaged_journals(engine, &files)?;
            engines::open(engine, &files)
        })
        .ok()
}

/// Finds the number of an event in the old store's index.
fn find_seq(old: &dyn KeyValue, event: &Event) -> Option<u64> {
    let name = event.id.as_str().as_bytes();
    let (at, seq) = key::decode_id_value(name, &old.get(Family::Ids, name).ok()??).ok()?;
    (at == event.at).then_some(seq)
}

/// Finds the highest number in the old store's outbox.
fn find_highest_seq(old: &dyn KeyValue) -> Option<u64> {
    let (key, _) = old.scan(Family::Outbox, KeyRange::ALL, ScanDirection::Backward).next()?.ok()?;
    key::decode_u64(Family::Outbox, &key, &key).ok()
}

/// The new store under construction.
struct StoreRebuild {
    store: DiskStore,
    batch: KvBatch,
    /// Events by number.
    numbers: BTreeMap<u64, (Millis, EventId)>,
    /// Hashes of all ids: a third of the memory of the ids themselves.
    ids: HashSet<u128>,
    /// Events whose number is unknown or taken: they are numbered after all others.
    late: Vec<(Millis, EventId, SessionId, Vec<u8>)>,
}

impl StoreRebuild {
    fn new(store: DiskStore) -> Self {
        Self {
            store,
            batch: KvBatch::default(),
            numbers: BTreeMap::new(),
            ids: HashSet::new(),
            late: Vec::new(),
        }
    }

    fn highest_seq(&self) -> u64 {
        self.numbers.last_key_value().map_or(0, |(seq, _)| *seq)
    }

    fn count(&self) -> u64 {
        u64::try_from(self.ids.len()).unwrap_or(u64::MAX)
    }

    /// Adds an event in its stored form. Unreadable events are skipped.
    fn add_stored(&mut self, key: &[u8], value: &[u8]) -> Result<(), LedgerError> {
        let Ok(position) = key::parse_event_key(Family::Events, key, key) else { return Ok(()) };
        let event = match event_value::decode_event(key, position.clone(), value) {
            Ok(event) => event,
            Err(error) if error.is_damage() => return Ok(()),
            // Written by a newer version: skipping it would lose it.
            Err(error) => return Err(error),
        };
        self.add_event(position.at, Some(position.seq), position.id, event.session, value.to_vec())
    }

    /// Adds the events that the open store can still read.
    fn add_readable(&mut self, old: &dyn KeyValue) -> Result<(), LedgerError> {
        for (key, value) in
            old.scan(Family::Events, KeyRange::ALL, ScanDirection::Forward).flatten()
        {
            self.add_stored(&key, &value)?;
        }
        Ok(())
    }

    /// Adds an event from a second copy.
    fn add_copy(&mut self, event: Event, number: Option<u64>) -> Result<(), LedgerError> {
        let (id, session) = (event.id.clone(), event.session.clone());
        let (at, arrived, project) = (event.at, event.arrived, event.project.clone());
        let draft = Draft::from_event(event);
        // A copy that cannot be encoded was modified by someone else: skip it.
        let Ok(body) = event_value::encode(&draft, &project, arrived) else {
            return Ok(());
        };
        self.add_event(at, number, id, session, body)
    }

    fn add_event(
        &mut self,
        at: Millis,
        number: Option<u64>,
        id: EventId,
        session: SessionId,
        body: Vec<u8>,
    ) -> Result<(), LedgerError> {
        if !self.ids.insert(xxh3_128(id.as_str().as_bytes())) {
            return Ok(());
        }
        match number.filter(|number| *number > 0 && !self.numbers.contains_key(number)) {
            Some(seq) => self.put_event(EventPosition { at, seq, id }, &session, &body),
            None => {
                self.late.push((at, id, session, body));
                Ok(())
            }
        }
    }

    fn put_event(
        &mut self,
        position: EventPosition,
        session: &SessionId,
        body: &[u8],
    ) -> Result<(), LedgerError> {
        key::put_event(&mut self.batch, session, &position, body);
        self.numbers.insert(position.seq, (position.at, position.id));
        self.write_full_batch()
    }

    /// Numbers the remaining events after `highest`, and returns the last number.
    fn number_late_events(&mut self, highest: u64) -> Result<u64, LedgerError> {
        let mut last = highest;
        let mut late = std::mem::take(&mut self.late);
        late.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (at, id, session, body) in late {
            last += 1;
            self.put_event(EventPosition { at, seq: last, id }, &session, &body)?;
        }
        Ok(last)
    }

    fn put_outbox(&mut self) -> Result<(), LedgerError> {
        let (mut run, mut last) = (OutboxRun::default(), 0);
        for (seq, (at, id)) in std::mem::take(&mut self.numbers) {
            if run.is_full() || seq != last + 1 {
                run.flush_into(&mut self.batch, last);
                self.write_full_batch()?;
            }
            run.push(&EventPosition { at, seq, id });
            last = seq;
        }
        run.flush_into(&mut self.batch, last);
        Ok(())
    }

    /// Copies the readable entries for recognizing repeated words and deliveries, which cannot be
    /// derived. A delivery whose event is lost is left out, so that it can bring the event again.
    fn copy_dedup_entries(&mut self, old: &dyn KeyValue) -> Result<(), LedgerError> {
        for family in [Family::Sightings, Family::Deliveries] {
            for (key, value) in old.scan(family, KeyRange::ALL, ScanDirection::Forward).flatten() {
                if family == Family::Deliveries && !self.ids.contains(&xxh3_128(&value)) {
                    continue;
                }
                self.batch.put(family, &key, &value);
                self.write_full_batch()?;
            }
        }
        Ok(())
    }

    /// Copies derived data if it is complete. Returns whether it did.
    fn copy_derived(
        &mut self,
        old: &dyn KeyValue,
        recounted: &str,
        last_seq: u64,
    ) -> Result<bool, LedgerError> {
        let before = old.damage().len();
        for family in DERIVED {
            let mut pairs = old.scan(family, KeyRange::ALL, ScanDirection::Forward).peekable();
            if pairs.peek().is_none() || pairs.any(|pair| pair.is_err()) {
                return Ok(false);
            }
        }
        if old.damage().len() > before {
            return Ok(false);
        }
        for family in DERIVED {
            for (key, value) in old.scan(family, KeyRange::ALL, ScanDirection::Forward).flatten() {
                let value = match family {
                    Family::Checkpoints if key == recounted.as_bytes() => continue,
                    Family::Checkpoints => cap_cursor(&key, value, last_seq),
                    _ => value,
                };
                self.batch.put(family, &key, &value);
                self.write_full_batch()?;
            }
        }
        Ok(true)
    }

    fn write_full_batch(&mut self) -> Result<(), LedgerError> {
        if self.batch.bytes_len() < BATCH_BYTES_MAX {
            return Ok(());
        }
        self.write(Durability::Buffered)
    }

    fn write(&mut self, durability: Durability) -> Result<(), LedgerError> {
        let written = self.store.write(&self.batch, durability);
        self.batch.clear();
        written.map_err(LedgerError::storage(self.store.path()))
    }

    /// Writes the remaining batch and closes the store.
    fn close(mut self) -> Result<(), LedgerError> {
        self.write(Durability::Synced)?;
        self.store.flush().map_err(LedgerError::storage(self.store.path()))
    }
}

/// Caps a cursor at the last event; an unreadable one is returned unchanged.
fn cap_cursor(projection: &[u8], value: Vec<u8>, last_seq: u64) -> Vec<u8> {
    match cursor_value::decode_cursor(&String::from_utf8_lossy(projection), &value) {
        Ok((seq, memo)) if seq > last_seq => cursor_value::encode_cursor(last_seq, &memo),
        _ => value,
    }
}
