//! The ledger: appends and reads events.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use tome_model::{DeliveryId, Event, EventId, SessionId};

use crate::limits::BATCH_BYTES_MAX;
use crate::queue::AppendRequest;
use crate::writer::{self, LedgerState};
use crate::{
    AppendedEvent, DiskStore, Durability, EventPosition, EventRange, EventRef, Family, KeyRange,
    KeyValue, KvBatch, KvPair, LedgerError, NewEvent, OrderKey, OutboxEntry, ScanDirection,
    StorageEngine, counts, delivery, event_value, key, outbox, store_file,
};

/// The append-only store of events and of data derived from them.
///
/// Dropping it completes queued appends, flushes and releases the store.
pub struct Ledger {
    pub(crate) shared: Arc<LedgerState>,
    writer: Option<JoinHandle<()>>,
    /// Held while a projection's cursor is compared and moved. Contains the last change number assigned to
    /// a node since the ledger was opened.
    pub(crate) commits: Mutex<Option<u64>>,
}

impl Ledger {
    /// Opens the ledger in a directory with its engine, or creates one with the default engine.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        Self::with_store(Box::new(DiskStore::open(dir, None)?))
    }

    /// Opens the ledger in a directory with its engine, or creates one with this engine.
    pub fn open_or_create(dir: &Path, engine: StorageEngine) -> Result<Self, LedgerError> {
        let engine = if store_file::is_store(dir) { None } else { Some(engine) };
        Self::with_store(Box::new(DiskStore::open(dir, engine)?))
    }

    /// Opens or creates the ledger in a directory, and fails if it was created with another engine.
    pub fn open_with(dir: &Path, engine: StorageEngine) -> Result<Self, LedgerError> {
        Self::with_store(Box::new(DiskStore::open(dir, Some(engine))?))
    }

    /// Creates a ledger on any key-value store.
    pub fn with_store(kv: Box<dyn KeyValue>) -> Result<Self, LedgerError> {
        let checked = counts::check(kv.as_ref())?;
        let shared = Arc::new(LedgerState::new(kv, checked));
        let writer = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || writer::run_writer(&shared)
            })
            .map_err(LedgerError::io("start the writer of", shared.kv.path()))?;
        Ok(Self { shared, writer: Some(writer), commits: Mutex::new(None) })
    }

    /// The directory of the ledger.
    pub fn path(&self) -> &Path {
        self.shared.kv.path()
    }

    /// The storage engine.
    pub fn engine(&self) -> StorageEngine {
        self.shared.kv.engine()
    }

    /// Appends events and waits until they are synced. Events that are already stored are not written
    /// again. After an error some of them may be stored; appending all of them again is always safe.
    pub fn append(&self, events: Vec<NewEvent>) -> Result<Vec<AppendedEvent>, LedgerError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.append_with_callback(events, move |result| {
            let _ = sender.send(result);
        });
        match receiver.recv() {
            Ok(result) => result,
            Err(mpsc::RecvError) => Err(self.writer_stopped_error()),
        }
    }

    /// Appends events and calls `done` on the writer's thread when they are synced or have failed.
    /// `done` must be fast and must not append. Blocks only if the queue is full.
    pub fn append_with_callback(
        &self,
        events: Vec<NewEvent>,
        done: impl FnOnce(Result<Vec<AppendedEvent>, LedgerError>) + Send + 'static,
    ) {
        let request = AppendRequest::new(events, Box::new(done));
        if let Err(request) = self.shared.queue.push(request) {
            (request.done)(Err(self.writer_stopped_error()));
        }
    }

    /// Returns the event with this id.
    pub fn event(&self, id: &EventId) -> Result<Option<Event>, LedgerError> {
        let name = id.as_str().as_bytes();
        match self.get(Family::Ids, name)? {
            Some(bytes) => {
                let (at, seq) = key::decode_id_value(name, &bytes)?;
                let id = id.clone();
                let position = EventPosition { at, seq, id };
                match self.event_at(&position)? {
                    Some(event) => Ok(Some(event)),
                    None => Err(self.record_lost_event(Family::Ids, name)),
                }
            }
            None => Ok(None),
        }
    }

    /// Returns the event at this position. Damage is recorded and treated as a missing event.
    pub fn event_at(&self, position: &EventPosition) -> Result<Option<Event>, LedgerError> {
        let key = key::event_key(position);
        let event = self.get(Family::Events, &key).and_then(|value| {
            value.map(|bytes| event_value::decode_event(&key, position.clone(), &bytes)).transpose()
        });
        self.skip_damage(event).map(Option::flatten)
    }

    /// Returns the event with this time and number, if there is one.
    pub fn event_by_order(&self, key: OrderKey) -> Result<Option<Event>, LedgerError> {
        // A narrow range, so that the engine opens no other tables.
        let only = KeyRange::prefix(&key::order_prefix(key.at, key.seq));
        match self.scan(Family::Events, only, ScanDirection::Forward).next().transpose()? {
            Some((key, value)) => {
                let event = key::parse_event_key(Family::Events, &key, &key)
                    .and_then(|position| event_value::decode_event(&key, position, &value));
                self.skip_damage(event)
            }
            None => Ok(None),
        }
    }

    /// Returns the first ids that begin with `prefix`, in order.
    pub fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<EventId>, LedgerError> {
        self.scan(Family::Ids, KeyRange::prefix(prefix.as_bytes()), ScanDirection::Forward)
            .take(limit)
            .map(|pair| {
                let (id, _) = pair?;
                let text = std::str::from_utf8(&id)
                    .map_err(|error| LedgerError::corrupt(Family::Ids, &id, error))?;
                EventId::parse(text).map_err(|error| LedgerError::corrupt(Family::Ids, &id, error))
            })
            .collect()
    }

    /// Iterates lazily over the events of a range and their positions. Damaged events are recorded and
    /// skipped; any other error ends the iteration.
    pub fn events<'a>(
        &'a self,
        range: &EventRange,
    ) -> impl Iterator<Item = Result<(EventPosition, Event), LedgerError>> + use<'a> {
        let session = range.session.clone();
        let family = match session {
            Some(_) => Family::Sessions,
            None => Family::Events,
        };
        let mut pairs = self.scan(family, range.key_range(), range.direction);
        let mut failed = false;
        std::iter::from_fn(move || {
            while !failed {
                let event = pairs.next()?.and_then(|(key, value)| match &session {
                    Some(session) => self.load_session_event(session, &key),
                    None => {
                        let position = key::parse_event_key(Family::Events, &key, &key)?;
                        let event = event_value::decode_event(&key, position.clone(), &value)?;
                        Ok((position, event))
                    }
                });
                match self.skip_damage(event) {
                    Ok(None) => {}
                    Ok(Some(event)) => return Some(Ok(event)),
                    Err(error) => {
                        failed = true;
                        return Some(Err(error));
                    }
                }
            }
            None
        })
    }

    /// Passes borrowed views of the events in a range to `show` until it breaks. Much faster than
    /// decoding all.
    pub fn visit_events(
        &self,
        range: &EventRange,
        mut show: impl FnMut(&EventPosition, &EventRef<'_>) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let family = if range.session.is_some() { Family::Sessions } else { Family::Events };
        for pair in self.scan(family, range.key_range(), range.direction) {
            let (key, value) = pair?;
            let found = match &range.session {
                Some(session) => self.load_session_value(session, &key),
                None => key::parse_event_key(Family::Events, &key, &key).map(|at| (at, key, value)),
            };
            let Some((position, key, value)) = self.skip_damage(found)? else { continue };
            let shown =
                event_value::with_event_ref(&key, &position, &value, |it| show(&position, it));
            let Some(shown) = self.skip_damage(shown)? else { continue };
            if shown?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Loads position, key and value of an event from its entry in `sessions`.
    fn load_session_value(
        &self,
        session: &SessionId,
        key: &[u8],
    ) -> Result<(EventPosition, Vec<u8>, Vec<u8>), LedgerError> {
        let position = key::parse_session_key(session, key)?;
        let at = key::event_key(&position);
        let value = self.get(Family::Events, &at)?;
        let value = value.ok_or_else(|| self.record_lost_event(Family::Sessions, key))?;
        Ok((position, at, value))
    }

    /// Iterates over the positions of a range without reading events. Records and skips damaged keys.
    pub fn positions<'a>(
        &'a self,
        range: &EventRange,
    ) -> impl Iterator<Item = Result<EventPosition, LedgerError>> + use<'a> {
        let session = range.session.clone();
        let family = if session.is_some() { Family::Sessions } else { Family::Events };
        self.scan(family, range.key_range(), range.direction).filter_map(move |pair| {
            let position = pair.and_then(|(key, _)| match &session {
                Some(session) => key::parse_session_key(session, &key),
                None => key::parse_event_key(Family::Events, &key, &key),
            });
            self.skip_damage(position).transpose()
        })
    }

    /// Returns the position of an event.
    pub fn position(&self, id: &EventId) -> Result<Option<EventPosition>, LedgerError> {
        let name = id.as_str().as_bytes();
        match self.get(Family::Ids, name)? {
            Some(bytes) => {
                let (at, seq) = key::decode_id_value(name, &bytes)?;
                Ok(Some(EventPosition { at, seq, id: id.clone() }))
            }
            None => Ok(None),
        }
    }

    /// Whether this delivery is stored, as long as deliveries are remembered.
    pub fn has_delivery(&self, id: DeliveryId) -> Result<bool, LedgerError> {
        delivery::has_delivery(self.shared.kv.as_ref(), id)
    }

    /// Returns the first session after `after` in order of ids, or the first of all.
    pub fn next_session(
        &self,
        after: Option<&SessionId>,
    ) -> Result<Option<SessionId>, LedgerError> {
        let mut span = KeyRange::ALL;
        if let Some(after) = after {
            // Session ids end with 0x00 in keys, so this sorts after all keys of the session.
            let behind = [after.as_str().as_bytes(), &[1]].concat();
            span.from = std::ops::Bound::Included(behind);
        }
        let next = self.scan(Family::Sessions, span, ScanDirection::Forward).next();
        next.transpose()?.map(|(key, _)| key::parse_session_id(&key)).transpose()
    }

    /// Returns the events that arrived after number `after_seq`, in order of arrival.
    pub fn read_outbox(
        &self,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<OutboxEntry>, LedgerError> {
        // Entries beyond the published number belong to a write in progress.
        let last_seq = self.last_seq();
        let mut span = KeyRange::ALL;
        span.from = std::ops::Bound::Excluded(after_seq.to_be_bytes().to_vec());
        let mut entries = Vec::new();
        for pair in self.scan(Family::Outbox, span, ScanDirection::Forward) {
            let (key, value) = pair?;
            let Some(run) = self.skip_damage(outbox::decode_run(&key, &value))? else { continue };
            entries.extend(
                run.into_iter().filter(|entry| entry.seq > after_seq && entry.seq <= last_seq),
            );
            if entries.len() >= limit {
                entries.truncate(limit);
                break;
            }
        }
        Ok(entries)
    }

    /// Number of the last event that arrived; 0 if there is none.
    pub fn last_seq(&self) -> u64 {
        self.shared.last_seq.load(Ordering::Acquire)
    }

    /// Copies the entries for recognizing repeated words and deliveries to a ledger that received
    /// events of this one, so that it recognizes the same duplicates. Entries without an event are
    /// harmless.
    pub fn copy_dedup_entries(&self, to: &Self) -> Result<(), LedgerError> {
        let mut batch = KvBatch::default();
        for family in [Family::Sightings, Family::Deliveries] {
            for pair in self.scan(family, KeyRange::ALL, ScanDirection::Forward) {
                let (key, value) = pair?;
                batch.put(family, &key, &value);
                if batch.bytes_len() >= BATCH_BYTES_MAX {
                    to.write(&batch, Durability::Buffered)?;
                    batch.clear();
                }
            }
        }
        to.write(&batch, Durability::Synced)
    }

    /// Moves memtables into tables: frees memory and leaves nothing to replay.
    pub fn flush(&self) -> Result<(), LedgerError> {
        self.shared.check_writable()?;
        let flushed = self.shared.kv.flush();
        flushed.map_err(|cause| self.shared.disable_writes(&cause))
    }

    /// Rewrites the tables without obsolete entries. Takes long on a large store; fjall frees the space
    /// of the old tables at the next open.
    pub fn compact(&self) -> Result<(), LedgerError> {
        self.shared.check_writable()?;
        let compacted = self.shared.kv.compact();
        compacted.map_err(|cause| self.shared.disable_writes(&cause))
    }

    /// Bytes used on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.shared.kv.disk_bytes()
    }

    /// Number of appends that wait for the writer.
    pub fn queue_len(&self) -> usize {
        self.shared.queue.len()
    }

    /// The failure that disabled writes, if any.
    pub fn write_failure(&self) -> Option<String> {
        self.shared.write_failure().map(str::to_owned)
    }

    /// The number of the last acknowledged event of a store that is not open, from its counts; 0 if
    /// they are missing or damaged. After a power loss it may be too low, never too high.
    pub fn read_last_seq(path: &Path) -> u64 {
        counts::read_or_default(path).last_seq
    }

    /// Damage found so far: differences from the counts when the store was opened, and everything that
    /// reads have skipped since. Empty for an intact store.
    pub fn damage(&self) -> Vec<String> {
        let mut damage = self.shared.kv.damage();
        damage.extend(self.shared.damage.list());
        damage
    }

    fn load_session_event(
        &self,
        session: &SessionId,
        key: &[u8],
    ) -> Result<(EventPosition, Event), LedgerError> {
        let position = key::parse_session_key(session, key)?;
        match self.event_at(&position)? {
            Some(event) => Ok((position, event)),
            None => Err(self.record_lost_event(Family::Sessions, key)),
        }
    }

    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, LedgerError> {
        let value = self.shared.kv.get(family, key);
        value.map_err(LedgerError::storage(self.path()))
    }

    pub(crate) fn scan<'a>(
        &'a self,
        family: Family,
        span: KeyRange,
        direction: ScanDirection,
    ) -> impl Iterator<Item = Result<KvPair, LedgerError>> + use<'a> {
        let pairs = self.shared.kv.scan(family, span, direction);
        pairs.map(|pair| pair.map_err(LedgerError::storage(self.path())))
    }

    pub(crate) fn write(&self, batch: &KvBatch, durability: Durability) -> Result<(), LedgerError> {
        let written = self.shared.kv.write(batch, durability);
        written.map_err(|cause| self.shared.disable_writes(&cause))
    }

    /// Records damage and returns `None` for it. Other errors are passed on.
    pub(crate) fn skip_damage<T>(
        &self,
        read: Result<T, LedgerError>,
    ) -> Result<Option<T>, LedgerError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_damage() => {
                self.shared.damage.record(error.describe_damage());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Records that the event behind an index entry is missing, and returns the error for it.
    pub(crate) fn record_lost_event(&self, family: Family, key: &[u8]) -> LedgerError {
        let error = LedgerError::corrupt(family, key, "its event is damaged or missing");
        self.shared.damage.record(error.describe_damage());
        error
    }

    /// The error for an append after the writer has stopped.
    fn writer_stopped_error(&self) -> LedgerError {
        LedgerError::WritesDisabled {
            path: self.path().to_owned(),
            cause: self.write_failure().unwrap_or_else(|| "the writer stopped".to_owned()),
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.shared.queue.close();
        let Some(writer) = self.writer.take() else {
            return;
        };
        // A callback may have dropped the last reference. Then this is the writer's own thread, which
        // closes the store after the callback.
        if writer.thread().id() != std::thread::current().id() {
            let _ = writer.join();
            self.shared.counts.record_families(self.shared.kv.as_ref());
        }
    }
}
