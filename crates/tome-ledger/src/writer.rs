//! The writer: the only thread that appends.
//!
//! It takes all queued requests, resolves which events are new, writes events, secondary keys and
//! outbox entries in one atomic batch (several, if the group is large), syncs once for the whole group,
//! and then calls back (group commit). While it syncs, the next group gathers.
//!
//! The first write or sync that fails disables all further writes: after a failed sync the content of
//! the disk is unknown until the store is reopened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tome_model::{EventId, Identity, Millis};

use crate::counts::{CheckedStore, CountsFile};
use crate::damage::DamageLog;
use crate::delivery::DeliveryIndex;
use crate::limits::BATCH_BYTES_MAX;
use crate::outbox::OutboxRun;
use crate::queue::{AppendCallback, AppendQueue, AppendRequest};
use crate::resolve::{IdentityResolver, PendingEvents, Resolution};
use crate::{
    AppendOutcome, AppendedEvent, Durability, EventPosition, Family, KeyValue, KvBatch, KvError,
    LedgerError, NewEvent, key,
};

/// State shared by the writer and the readers of a ledger.
pub(crate) struct LedgerState {
    pub(crate) kv: Box<dyn KeyValue>,
    pub(crate) queue: AppendQueue,
    pub(crate) last_seq: AtomicU64,
    /// Raised with every acknowledged group.
    pub(crate) counts: CountsFile,
    /// Damage that reads have skipped, and differences from the counts at opening.
    pub(crate) damage: DamageLog,
    /// Numbers up to this one were assigned before, even if their events are lost.
    highest_seq: u64,
    write_failure: OnceLock<String>,
}

impl LedgerState {
    pub(crate) fn new(kv: Box<dyn KeyValue>, checked: CheckedStore) -> Self {
        let CheckedStore { file, last_seq, highest_seq, findings } = checked;
        let damage = DamageLog::default();
        findings.into_iter().for_each(|finding| damage.record(finding));
        Self {
            kv,
            queue: AppendQueue::default(),
            last_seq: AtomicU64::new(last_seq),
            counts: file,
            damage,
            highest_seq,
            write_failure: OnceLock::new(),
        }
    }

    /// The failure that disabled writes, if any.
    pub(crate) fn write_failure(&self) -> Option<&str> {
        self.write_failure.get().map(String::as_str)
    }

    /// Disables all further writes. The first cause is kept and reported.
    pub(crate) fn disable_writes(&self, cause: &KvError) -> LedgerError {
        self.disable_writes_because(render_error_chain(cause.as_ref()))
    }

    fn disable_writes_because(&self, cause: String) -> LedgerError {
        let cause = self.write_failure.get_or_init(|| cause).clone();
        LedgerError::WritesDisabled { path: self.kv.path().to_owned(), cause }
    }

    /// Fails if writes are disabled.
    pub(crate) fn check_writable(&self) -> Result<(), LedgerError> {
        match self.write_failure.get() {
            Some(cause) => Err(self.disable_writes_because(cause.clone())),
            None => Ok(()),
        }
    }
}

/// Renders an error and its causes in one line.
fn render_error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// Processes the queue until it is closed and empty.
pub(crate) fn run_writer(shared: &Arc<LedgerState>) {
    let _closing = CloseOnExit(shared);
    let mut writer = LedgerWriter {
        shared,
        batch: KvBatch::default(),
        run: OutboxRun::default(),
        pending: PendingEvents::default(),
        deliveries: DeliveryIndex::default(),
        next_seq: shared.highest_seq + 1,
        unsynced: false,
    };
    loop {
        let group = shared.queue.take_group();
        if group.is_empty() {
            return;
        }
        writer.append_group(group);
    }
}

/// Closes the queue and fails its requests, however the writer ends, so that no caller waits forever.
struct CloseOnExit<'a>(&'a Arc<LedgerState>);

impl Drop for CloseOnExit<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.disable_writes_because("the writer stopped unexpectedly".to_owned());
        }
        self.0.queue.close();
        loop {
            let left = self.0.queue.take_group();
            if left.is_empty() {
                return;
            }
            for request in left {
                let error = self.0.disable_writes_because("the writer stopped".to_owned());
                call_back(request.done, Err(error));
            }
        }
    }
}

struct LedgerWriter<'a> {
    shared: &'a Arc<LedgerState>,
    batch: KvBatch,
    /// The events of the batch that are not in it as outbox entries yet.
    run: OutboxRun,
    pending: PendingEvents,
    deliveries: DeliveryIndex,
    next_seq: u64,
    /// Whether part of the current group is written but not synced.
    unsynced: bool,
}

/// A processed request that waits for the sync.
type ProcessedRequest = (AppendCallback, Result<Vec<AppendedEvent>, LedgerError>);

impl LedgerWriter<'_> {
    fn append_group(&mut self, group: Vec<AppendRequest>) {
        let mut answers: Vec<ProcessedRequest> = Vec::with_capacity(group.len());
        for request in group {
            let result = self.append_request(&request.events);
            answers.push((request.done, result));
        }
        let synced = self.sync_group();
        for (done, result) in answers {
            // Results are valid only if the whole group is on disk.
            call_back(done, if synced.is_ok() { result } else { self.apply_write_failure(result) });
        }
    }

    fn apply_write_failure(
        &self,
        result: Result<Vec<AppendedEvent>, LedgerError>,
    ) -> Result<Vec<AppendedEvent>, LedgerError> {
        result.and_then(|appended| self.shared.check_writable().map(|()| appended))
    }

    /// Resolves the events of one request into the batch. An error affects this request only; events it
    /// resolved before stay in the batch, and a retry finds them stored.
    fn append_request(&mut self, events: &[NewEvent]) -> Result<Vec<AppendedEvent>, LedgerError> {
        self.shared.check_writable()?;
        let bodies: Vec<&[u8]> = events.iter().map(NewEvent::body).collect::<Result<_, _>>()?;
        let mut appended = Vec::with_capacity(events.len());
        for (event, body) in events.iter().zip(bodies) {
            appended.push(self.append_event(event, body)?);
            if self.batch.bytes_len() >= BATCH_BYTES_MAX {
                self.write(Durability::Buffered)?;
            }
        }
        Ok(appended)
    }

    /// Appends an event unless its delivery has arrived before, whatever its content.
    fn append_event(
        &mut self,
        event: &NewEvent,
        body: &[u8],
    ) -> Result<AppendedEvent, LedgerError> {
        let Some(part) = event.delivery else { return self.append_new(event, body) };
        let kv = self.shared.kv.as_ref();
        if let Some(id) = self.deliveries.find(kv, part)? {
            return Ok(AppendedEvent { id, outcome: AppendOutcome::Duplicate });
        }
        let appended = self.append_new(event, body)?;
        self.deliveries.insert(&mut self.batch, part, &appended.id);
        self.deliveries.prune(self.shared.kv.as_ref(), &mut self.batch, event.arrived)?;
        Ok(appended)
    }

    fn append_new(&mut self, event: &NewEvent, body: &[u8]) -> Result<AppendedEvent, LedgerError> {
        let resolver = IdentityResolver { kv: self.shared.kv.as_ref(), pending: &self.pending };
        match resolver.resolve(&event.identity, event.at)? {
            Resolution::Duplicate { id } => {
                Ok(AppendedEvent { id, outcome: AppendOutcome::Duplicate })
            }
            Resolution::New { id, sighting } => {
                if let (Some(occurrence), Identity::ByText(words)) = (sighting, &event.identity) {
                    self.put_sighting(words, event.at, occurrence);
                }
                Ok(AppendedEvent {
                    id: self.put_event(event, id, body),
                    outcome: AppendOutcome::Stored,
                })
            }
        }
    }

    fn put_event(&mut self, event: &NewEvent, id: EventId, body: &[u8]) -> EventId {
        let at = event.at;
        let seq = self.next_seq;
        let position = EventPosition { at, seq, id };
        key::put_event(&mut self.batch, &event.session, &position, body);
        self.run.push(&position);
        if self.run.is_full() {
            self.run.flush_into(&mut self.batch, self.next_seq);
        }
        self.next_seq += 1;
        self.pending.add(position.id.clone(), at);
        position.id
    }

    fn put_sighting(&mut self, words: &str, at: Millis, occurrence: u32) {
        let key = key::sighting_key(words, at);
        self.batch.put(Family::Sightings, &key, &occurrence.to_be_bytes());
        self.pending.add_sighting(key, occurrence);
    }

    /// Writes the rest of a group and syncs all of it. A group of duplicates needs no sync, because
    /// their originals were synced with an earlier group.
    fn sync_group(&mut self) -> Result<(), LedgerError> {
        self.shared.check_writable()?;
        if !self.batch.is_empty() {
            self.write(Durability::Synced)?;
        } else if self.unsynced {
            let synced = self.shared.kv.sync();
            synced.map_err(|cause| self.shared.disable_writes(&cause))?;
        }
        self.unsynced = false;
        self.shared.counts.raise_last_seq(self.next_seq - 1);
        Ok(())
    }

    fn write(&mut self, durability: Durability) -> Result<(), LedgerError> {
        // The outbox entry comes last, so that a reader who sees it also sees its events.
        self.run.flush_into(&mut self.batch, self.next_seq - 1);
        let written = self.shared.kv.write(&self.batch, durability);
        self.batch.clear();
        self.pending.clear();
        self.deliveries.clear_pending();
        written.map_err(|cause| self.shared.disable_writes(&cause))?;
        self.unsynced = true;
        self.shared.last_seq.store(self.next_seq - 1, Ordering::Release);
        Ok(())
    }
}

/// Calls back; a panic in the callback must not end the writer.
fn call_back(done: AppendCallback, result: Result<Vec<AppendedEvent>, LedgerError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| done(result)));
}
