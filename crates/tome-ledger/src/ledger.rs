//! The ledger: appends and reads events, and commits the results of workers.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use tome_model::{DeliveryId, Event, EventId, SessionId, SessionTally};

use crate::limits::{BATCH_BYTES_MAX, WORKER_BYTES_MAX};
use crate::queue::Request;
use crate::writer::{self, Shared};
use crate::{
    Appended, Batch, Direction, Durability, Engine, EventRange, Family, Glimpse, GripWrite,
    KeyValue, KvError, LedgerError, Mark, NewEvent, NodeWrite, OutboxEntry, Pair, Position, Span,
    Store, StretchWrite, counts, delivery, event_value, key, outbox, projection, store_file,
};

/// The append-only store of events and of data derived from them.
///
/// Dropping it completes queued appends, flushes and releases the store.
pub struct Ledger {
    pub(crate) shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    /// Held while a worker's cursor is compared and moved. Contains the last change number assigned to
    /// a node since the ledger was opened.
    commits: Mutex<Option<u64>>,
}

/// Results of a worker and its new cursor, written atomically.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// The worker's name.
    pub worker: String,
    /// The worker's cursor when it began. If another commit has moved it since, the same events were
    /// processed twice, and this commit is rejected.
    pub from_seq: u64,
    /// The new cursor: everything up to this number of the outbox is processed.
    pub upto_seq: u64,
    /// State that the worker stores beside its cursor, such as its settings. `None` keeps it.
    pub memo: Option<String>,
    /// Current session statistics.
    pub tallies: Vec<SessionTally>,
    /// Node changes, at most one per node.
    pub nodes: Vec<NodeWrite>,
    /// Changes of segment boundaries, at most one per position.
    pub stretches: Vec<StretchWrite>,
    /// Grip changes.
    pub grips: Vec<GripWrite>,
}

impl Ledger {
    /// Opens the ledger in a directory with its engine, or creates one with the default engine.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        Self::on(Box::new(Store::open(dir, None)?))
    }

    /// Opens the ledger in a directory with its engine, or creates one with this engine.
    pub fn open_or_make(dir: &Path, engine: Engine) -> Result<Self, LedgerError> {
        let engine = if store_file::is_store(dir) { None } else { Some(engine) };
        Self::on(Box::new(Store::open(dir, engine)?))
    }

    /// Opens or creates the ledger in a directory, and fails if it was created with another engine.
    pub fn open_with(dir: &Path, engine: Engine) -> Result<Self, LedgerError> {
        Self::on(Box::new(Store::open(dir, Some(engine))?))
    }

    /// Creates a ledger on any key-value store.
    pub fn on(kv: Box<dyn KeyValue>) -> Result<Self, LedgerError> {
        let checked = counts::check(kv.as_ref())?;
        let shared = Arc::new(Shared::new(kv, checked));
        let writer = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || writer::run(&shared)
            })
            .map_err(LedgerError::io("start the writer of", shared.kv.path()))?;
        Ok(Self { shared, writer: Some(writer), commits: Mutex::new(None) })
    }

    /// The directory of the ledger.
    pub fn path(&self) -> &Path {
        self.shared.kv.path()
    }

    /// The storage engine.
    pub fn engine(&self) -> Engine {
        self.shared.kv.engine()
    }

    /// Appends events and waits until they are synced. Events that are already stored are not written
    /// again. After an error some of them may be stored; appending all of them again is always safe.
    pub fn append(&self, events: Vec<NewEvent>) -> Result<Vec<Appended>, LedgerError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.append_then(events, move |result| {
            let _ = sender.send(result);
        });
        match receiver.recv() {
            Ok(result) => result,
            Err(mpsc::RecvError) => Err(self.stopped()),
        }
    }

    /// Appends events and calls `done` on the writer's thread when they are synced or have failed.
    /// `done` must be fast and must not append. Blocks only if the queue is full.
    pub fn append_then(
        &self,
        events: Vec<NewEvent>,
        done: impl FnOnce(Result<Vec<Appended>, LedgerError>) + Send + 'static,
    ) {
        let request = Request::new(events, Box::new(done));
        if let Err(request) = self.shared.queue.push(request) {
            (request.done)(Err(self.stopped()));
        }
    }

    /// Returns the event with this id.
    pub fn event(&self, id: &EventId) -> Result<Option<Event>, LedgerError> {
        let name = id.as_str().as_bytes();
        match self.get(Family::Ids, name)? {
            Some(bytes) => {
                let (at, seq) = key::read_id(name, &bytes)?;
                let id = id.clone();
                let position = Position { at, seq, id };
                match self.event_at(&position)? {
                    Some(event) => Ok(Some(event)),
                    None => Err(self.lost(Family::Ids, name)),
                }
            }
            None => Ok(None),
        }
    }

    /// Returns the event at this position. Damage is recorded and treated as a missing event.
    pub fn event_at(&self, position: &Position) -> Result<Option<Event>, LedgerError> {
        let key = key::event(position);
        let event = self.get(Family::Events, &key).and_then(|value| {
            value.map(|bytes| event_value::read(&key, position.clone(), &bytes)).transpose()
        });
        self.skip_damage(event).map(Option::flatten)
    }

    /// Returns the event with this time and number, if there is one.
    pub fn event_of(&self, mark: Mark) -> Result<Option<Event>, LedgerError> {
        // A narrow range, so that the engine opens no other tables.
        let only = Span::prefix(&key::mark(mark.at, mark.seq));
        match self.scan(Family::Events, only, Direction::Forward).next().transpose()? {
            Some((key, value)) => {
                let event = key::read_event(Family::Events, &key, &key)
                    .and_then(|position| event_value::read(&key, position, &value));
                self.skip_damage(event)
            }
            None => Ok(None),
        }
    }

    /// Returns the first ids that begin with `prefix`, in order.
    pub fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<EventId>, LedgerError> {
        self.scan(Family::Ids, Span::prefix(prefix.as_bytes()), Direction::Forward)
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
    ) -> impl Iterator<Item = Result<(Position, Event), LedgerError>> + use<'a> {
        let session = range.session.clone();
        let family = match session {
            Some(_) => Family::Sessions,
            None => Family::Events,
        };
        let mut pairs = self.scan(family, range.span(), range.direction);
        let mut failed = false;
        std::iter::from_fn(move || {
            while !failed {
                let event = pairs.next()?.and_then(|(key, value)| match &session {
                    Some(session) => self.event_of_session(session, &key),
                    None => {
                        let position = key::read_event(Family::Events, &key, &key)?;
                        let event = event_value::read(&key, position.clone(), &value)?;
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
    pub fn glimpse(
        &self,
        range: &EventRange,
        mut show: impl FnMut(&Position, &Glimpse<'_>) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let family = if range.session.is_some() { Family::Sessions } else { Family::Events };
        for pair in self.scan(family, range.span(), range.direction) {
            let (key, value) = pair?;
            let found = match &range.session {
                Some(session) => self.value_of_session(session, &key),
                None => key::read_event(Family::Events, &key, &key).map(|at| (at, key, value)),
            };
            let Some((position, key, value)) = self.skip_damage(found)? else { continue };
            let shown = event_value::glimpse(&key, &position, &value, |it| show(&position, it));
            let Some(shown) = self.skip_damage(shown)? else { continue };
            if shown?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Loads position, key and value of an event from its entry in `sessions`.
    fn value_of_session(
        &self,
        session: &SessionId,
        key: &[u8],
    ) -> Result<(Position, Vec<u8>, Vec<u8>), LedgerError> {
        let position = key::read_session(session, key)?;
        let at = key::event(&position);
        let value = self.get(Family::Events, &at)?;
        let value = value.ok_or_else(|| self.lost(Family::Sessions, key))?;
        Ok((position, at, value))
    }

    /// Iterates over the positions of a range without reading events. Records and skips damaged keys.
    pub fn positions<'a>(
        &'a self,
        range: &EventRange,
    ) -> impl Iterator<Item = Result<Position, LedgerError>> + use<'a> {
        let session = range.session.clone();
        let family = if session.is_some() { Family::Sessions } else { Family::Events };
        self.scan(family, range.span(), range.direction).filter_map(move |pair| {
            let position = pair.and_then(|(key, _)| match &session {
                Some(session) => key::read_session(session, &key),
                None => key::read_event(Family::Events, &key, &key),
            });
            self.skip_damage(position).transpose()
        })
    }

    /// Returns the position of an event.
    pub fn position(&self, id: &EventId) -> Result<Option<Position>, LedgerError> {
        let name = id.as_str().as_bytes();
        match self.get(Family::Ids, name)? {
            Some(bytes) => {
                let (at, seq) = key::read_id(name, &bytes)?;
                Ok(Some(Position { at, seq, id: id.clone() }))
            }
            None => Ok(None),
        }
    }

    /// Whether this delivery is stored, as long as deliveries are remembered.
    pub fn has_arrived(&self, id: DeliveryId) -> Result<bool, LedgerError> {
        delivery::has_arrived(self.shared.kv.as_ref(), id)
    }

    /// Returns the first session after `after` in order of ids, or the first of all.
    pub fn next_session(
        &self,
        after: Option<&SessionId>,
    ) -> Result<Option<SessionId>, LedgerError> {
        let mut span = Span::ALL;
        if let Some(after) = after {
            // Session ids end with 0x00 in keys, so this sorts after all keys of the session.
            let behind = [after.as_str().as_bytes(), &[1]].concat();
            span.from = std::ops::Bound::Included(behind);
        }
        let next = self.scan(Family::Sessions, span, Direction::Forward).next();
        next.transpose()?.map(|(key, _)| key::session_of(&key)).transpose()
    }

    /// Returns the events that arrived after number `after_seq`, in order of arrival.
    pub fn outbox(&self, after_seq: u64, limit: usize) -> Result<Vec<OutboxEntry>, LedgerError> {
        // Entries beyond the published number belong to a write in progress.
        let last_seq = self.last_seq();
        let mut span = Span::ALL;
        span.from = std::ops::Bound::Excluded(after_seq.to_be_bytes().to_vec());
        let mut entries = Vec::new();
        for pair in self.scan(Family::Outbox, span, Direction::Forward) {
            let (key, value) = pair?;
            let Some(run) = self.skip_damage(outbox::read_run(&key, &value))? else { continue };
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
    /// events of this
    /// one, so that it recognizes the same duplicates. Entries without an event are harmless.
    pub fn copy_dedup_entries(&self, to: &Self) -> Result<(), LedgerError> {
        let mut batch = Batch::default();
        for family in [Family::Sightings, Family::Deliveries] {
            for pair in self.scan(family, Span::ALL, Direction::Forward) {
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

    /// Returns a worker's cursor: everything up to this number is processed. 0 if it never ran.
    pub fn cursor(&self, worker: &str) -> Result<u64, LedgerError> {
        match self.get(Family::Checkpoints, worker_key(worker)?)? {
            Some(bytes) => projection::read_cursor(worker, &bytes).map(|(seq, _)| seq),
            None => Ok(0),
        }
    }

    /// Returns the state that a worker stores beside its cursor; empty if there is none.
    pub fn memo(&self, worker: &str) -> Result<String, LedgerError> {
        match self.get(Family::Checkpoints, worker_key(worker)?)? {
            Some(bytes) => projection::read_cursor(worker, &bytes).map(|(_, memo)| memo),
            None => Ok(String::new()),
        }
    }

    /// Writes a worker's results and its cursor atomically. They are not synced: if they are lost, the
    /// worker repeats its work. A cursor never moves backwards or ahead of the events.
    pub fn commit(&self, work: Work) -> Result<(), LedgerError> {
        let Work { worker, from_seq, upto_seq, memo, tallies, nodes, stretches, grips } = work;
        self.shared.check()?;
        let mut last_change = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.cursor(&worker)?;
        let problem = match upto_seq {
            _ if from_seq != at => Some("another commit has moved it"),
            upto if upto < at => Some("a cursor never moves backwards"),
            upto if upto > self.last_seq() => Some("no event has that number yet"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(LedgerError::Cursor { worker, at, upto: upto_seq, problem });
        }
        let mut batch = Batch::default();
        for tally in &tallies {
            let key = key::tally(&tally.session, &tally.project);
            batch.put(Family::Tallies, &key, &projection::encode_tally(tally)?);
        }
        let changed = self.put_nodes(&mut batch, nodes)?;
        Self::put_stretches(&mut batch, &stretches)?;
        self.put_grips(&mut batch, &grips)?;
        self.put_changed(&mut batch, &changed, &mut last_change)?;
        let memo = match memo {
            Some(memo) => memo,
            None => self.memo(&worker)?,
        };
        let cursor = projection::encode_cursor(upto_seq, &memo);
        batch.put(Family::Checkpoints, worker_key(&worker)?, &cursor);
        self.write(&batch, Durability::Buffered)
    }

    /// Returns the statistics of a session in a project.
    pub fn session_tally(
        &self,
        session: &SessionId,
        project: &str,
    ) -> Result<Option<SessionTally>, LedgerError> {
        let key = key::tally(session, project);
        match self.get(Family::Tallies, &key)? {
            Some(bytes) => projection::read_tally(&key, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the statistics of all sessions, in order of their ids.
    pub fn session_tallies(&self) -> Result<Vec<SessionTally>, LedgerError> {
        self.scan(Family::Tallies, Span::ALL, Direction::Forward)
            .map(|pair| pair.and_then(|(key, bytes)| projection::read_tally(&key, &bytes)))
            .filter_map(|tally| self.skip_damage(tally).transpose())
            .collect()
    }

    /// Moves memtables into tables: frees memory and leaves nothing to replay.
    pub fn flush(&self) -> Result<(), LedgerError> {
        self.shared.check()?;
        let flushed = self.shared.kv.flush();
        flushed.map_err(|cause| self.shared.refuse(&cause))
    }

    /// Rewrites the tables without obsolete entries. Takes long on a large store; fjall frees the space
    /// of the old tables at the next open.
    pub fn compact(&self) -> Result<(), LedgerError> {
        self.shared.check()?;
        let compacted = self.shared.kv.compact();
        compacted.map_err(|cause| self.shared.refuse(&cause))
    }

    /// Bytes used on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.shared.kv.disk_bytes()
    }

    /// Number of appends that wait for the writer.
    pub fn queued(&self) -> usize {
        self.shared.queue.len()
    }

    /// The failure that disabled writes, if any.
    pub fn is_refusing(&self) -> Option<String> {
        self.shared.refusal().map(str::to_owned)
    }

    fn event_of_session(
        &self,
        session: &SessionId,
        key: &[u8],
    ) -> Result<(Position, Event), LedgerError> {
        let position = key::read_session(session, key)?;
        match self.event_at(&position)? {
            Some(event) => Ok((position, event)),
            None => Err(self.lost(Family::Sessions, key)),
        }
    }

    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, LedgerError> {
        let value = self.shared.kv.get(family, key);
        value.map_err(|source| storage(self.path(), source))
    }

    pub(crate) fn scan<'a>(
        &'a self,
        family: Family,
        span: Span,
        direction: Direction,
    ) -> impl Iterator<Item = Result<Pair, LedgerError>> + use<'a> {
        let pairs = self.shared.kv.scan(family, span, direction);
        pairs.map(|pair| pair.map_err(|source| storage(self.path(), source)))
    }

    pub(crate) fn write(&self, batch: &Batch, durability: Durability) -> Result<(), LedgerError> {
        let written = self.shared.kv.write(batch, durability);
        written.map_err(|cause| self.shared.refuse(&cause))
    }

    /// The error for an append after the writer has stopped.
    fn stopped(&self) -> LedgerError {
        LedgerError::Refusing {
            path: self.path().to_owned(),
            cause: self.is_refusing().unwrap_or_else(|| "the writer stopped".to_owned()),
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
            self.shared.counts.note_families(self.shared.kv.as_ref());
        }
    }
}

fn storage(path: &Path, source: KvError) -> LedgerError {
    LedgerError::Storage { path: path.to_owned(), source }
}

fn worker_key(worker: &str) -> Result<&[u8], LedgerError> {
    if worker.is_empty() || worker.len() > WORKER_BYTES_MAX {
        return Err(LedgerError::Cursor {
            worker: tome_model::truncate_to(worker, WORKER_BYTES_MAX).to_owned(),
            at: 0,
            upto: 0,
            problem: "a worker's name must have 1 to 128 bytes",
        });
    }
    Ok(worker.as_bytes())
}
