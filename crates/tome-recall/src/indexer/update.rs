//! Updates the indexes with new and changed records, starting from each index's cursor.
//!
//! With a remote embedder, BM25 and vectors are updated in separate passes, so that a slow or
//! unreachable endpoint delays only its own vectors.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tome_finder::{FinderError, IndexBatch, IndexEntry};
use tome_ledger::Ledger;
use tome_model::{Event, Millis};

use super::Indexer;
use super::done_ranges::DoneRanges;
use super::entries;
use super::files::{list_files, publish_known_files};
use super::index_set::{IndexPair, IndexSet, UpdatePass, UpdateState};
use super::index_slot::parse_cursor;
use super::indexable_file::{IndexableFile, page_name_of_stamp};
use super::vector_slot::VectorSlot;
use super::writers::IndexWriters;
use crate::RecallError;
use crate::TRANSCRIPT_PROJECTION;

/// Maximum size of one batch. A batch is in memory several times: as events, entries, documents and
/// vectors.
pub(super) struct BatchLimits {
    events: usize,
    /// Total text of events or files.
    bytes: usize,
    pub nodes: usize,
    files: usize,
}

/// For local indexing.
const LOCAL_BATCH: BatchLimits =
    BatchLimits { events: 2_000, bytes: 4 << 20, nodes: 250, files: 500 };
/// For a remote embedder. Small, because a failure loses only the current batch.
const REMOTE_BATCH: BatchLimits =
    BatchLimits { events: 128, bytes: 128 << 10, nodes: 32, files: 16 };

/// For the deep embedder, which takes milliseconds per text: a batch is lost if the daemon stops.
const DEEP_BATCH: BatchLimits = BatchLimits { events: 64, bytes: 64 << 10, nodes: 16, files: 8 };

/// Result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexUpdate {
    /// Number of events indexed.
    pub events: u64,
    /// Number of nodes and files indexed or removed.
    pub pages: u64,
    /// Number of indexes created.
    pub created: u64,
}

impl Indexer {
    /// Updates the indexes of a set; the vectors only if the embedder is local.
    pub(crate) fn catch_up(
        &self,
        index_set: &IndexSet,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let pass = if self.embedder.is_remote() { UpdatePass::Bm25 } else { UpdatePass::Both };
        let done = self.update_with_retry(index_set, pass, Millis(0), stop);
        index_set.lock_problems().indexes = done.as_ref().err().map(RecallError::explained);
        if done.as_ref().is_ok_and(|done| done.pages > 0) {
            index_set.are_vectors_outdated.store(true, Ordering::Relaxed);
            index_set.are_deep_outdated.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Updates the vectors of a set with a remote embedder.
    pub(crate) fn catch_up_vectors(
        &self,
        index_set: &IndexSet,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let done = self.update_with_retry(index_set, UpdatePass::Vectors, Millis(0), stop);
        index_set.lock_problems().vectors = done.as_ref().err().map(explain_error);
        if done.is_err() || stop() {
            index_set.are_vectors_outdated.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Updates the deep vectors of a set, back to a time.
    pub(crate) fn catch_up_deep(
        &self,
        index_set: &IndexSet,
        since: Millis,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let done = self.update_with_retry(index_set, UpdatePass::Deep, since, stop);
        index_set.lock_problems().deep = done.as_ref().err().map(explain_error);
        if done.is_err() || stop() {
            index_set.are_deep_outdated.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Returns whether deep vectors are missing.
    pub(crate) fn is_deep_behind(&self, index_set: &IndexSet, ledger: Option<&Ledger>) -> bool {
        let Some(deep) = &self.deep else { return false };
        // An index for notes is not created before there is a note.
        if ledger.is_none() && index_set.pages.open_existing(&self.embedder).1.is_none() {
            return false;
        }
        if index_set.are_deep_outdated.load(Ordering::Relaxed) {
            return true;
        }
        if has_previous(index_set, UpdatePass::Deep) {
            return true;
        }
        let open = |pair: &IndexPair| pair.open_existing_deep(deep);
        let (Some(events), Some(pages)) = (open(&index_set.events), open(&index_set.pages)) else {
            return true;
        };
        ledger.is_some_and(|ledger| {
            DoneRanges::parse(&events.cursor()).newest_missing(ledger.last_seq(), 1).is_some()
                || ledger
                    .last_node_change()
                    .is_ok_and(|change| parse_cursor(&pages.cursor()) < change)
        })
    }

    /// Retries once with reopened indexes, in case an index was deleted during the update. A
    /// failing embedder is not retried at once.
    fn update_with_retry(
        &self,
        index_set: &IndexSet,
        pass: UpdatePass,
        since: Millis,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        match self.update_set(index_set, pass, since, stop) {
            Err(RecallError::Index(FinderError::Embed(error))) => {
                Err(FinderError::Embed(error).into())
            }
            Err(RecallError::Index(_)) if !stop() => {
                index_set.close();
                self.update_set(index_set, pass, since, stop)
            }
            done => done,
        }
    }

    /// Updates the indexes until nothing is left to do or `stop` returns true; deep vectors of events only
    /// back to `since`. Only one update runs at a time; a second one waits and then has little to do.
    fn update_set(
        &self,
        index_set: &IndexSet,
        pass: UpdatePass,
        since: Millis,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let mut kept = pass.has_bm25().then(|| lock_state(&index_set.bm25_update));
        let mut kept_vectors = pass.has_vectors().then(|| lock_state(&index_set.vectors_update));
        let mut kept_deep = (pass == UpdatePass::Deep).then(|| lock_state(&index_set.deep_update));
        let kept = kept.as_mut().or(kept_vectors.as_mut()).or(kept_deep.as_mut());
        let Some(kept) = kept else { return Ok(IndexUpdate::default()) };
        let created =
            self.with_open_set(index_set, |index_set| self.open_indexes(index_set, kept, pass))?;
        let mut done = IndexUpdate { created, ..IndexUpdate::default() };
        if let Some(path) = &index_set.ledger {
            let records = match pass {
                UpdatePass::Deep => self.index_deep_records(index_set, path, since, stop)?,
                _ => self.index_records(index_set, path, pass, stop)?,
            };
            (done.events, done.pages) = (records.events, records.pages);
        }
        done.pages += self.index_files(index_set, kept, pass, stop)?;
        let is_complete = since == Millis(0) && !stop();
        if is_complete {
            let pairs = [&index_set.events, &index_set.pages];
            pairs
                .iter()
                .filter_map(|pair| pair.slot_of(pass))
                .for_each(VectorSlot::remove_previous);
        }
        if done != IndexUpdate::default() && pass.has_bm25() {
            self.release_writers(index_set);
        }
        Ok(done)
    }

    /// Indexes the events and nodes of a ledger.
    fn index_records(
        &self,
        index_set: &IndexSet,
        ledger: &Path,
        pass: UpdatePass,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let ledger = self.stores.open_for_upkeep(ledger)?;
        Ok(IndexUpdate {
            events: self.index_events(&index_set.events, &ledger, pass, stop)?,
            pages: self.index_nodes(&index_set.pages, &ledger, pass, stop)?,
            created: 0,
        })
    }

    /// Releases the BM25 writers, each with its threads and up to 24 MB. One that is still merging
    /// segments stays until the next call.
    pub(crate) fn release_writers(&self, index_set: &IndexSet) {
        for bm25 in
            [&index_set.events, &index_set.pages].into_iter().filter_map(|pair| pair.bm25.get())
        {
            let _ = bm25.release_writer();
        }
    }

    /// Opens the indexes of a pass, or creates them again. Returns how many were created.
    fn open_indexes(
        &self,
        index_set: &IndexSet,
        kept: &mut UpdateState,
        pass: UpdatePass,
    ) -> Result<u64, RecallError> {
        // Anything found missing from now on is left to the next update.
        if pass.has_bm25() {
            index_set.is_outdated.store(false, Ordering::Relaxed);
        }
        if pass.has_vectors() {
            index_set.are_vectors_outdated.store(false, Ordering::Relaxed);
        }
        let mut count = 0;
        if let (UpdatePass::Deep, Some(deep)) = (pass, &self.deep) {
            index_set.are_deep_outdated.store(false, Ordering::Relaxed);
            for pair in [&index_set.events, &index_set.pages] {
                if pair.open_or_create_deep(deep)? {
                    kept.files = None;
                    count += 1;
                }
            }
            return Ok(count);
        }
        for (pair, has_files) in [(&index_set.events, false), (&index_set.pages, true)] {
            let created = pair.open_or_create(pass, &self.embedder)?;
            count += u64::from(created.bm25) + u64::from(created.vectors);
            if has_files && (created.bm25 || created.vectors) {
                kept.files = None;
            }
        }
        Ok(count)
    }

    /// Returns whether an update is due. Only compares cursors: files are compared once something
    /// was stored, or once a query has noticed a changed file.
    pub(crate) fn is_behind(&self, index_set: &IndexSet, ledger: Option<&Ledger>) -> bool {
        let far = self.embedder.is_remote();
        index_set.is_outdated.load(Ordering::Relaxed)
            || is_incomplete(index_set, ledger, |pair| pair.bm25.get().map(|it| it.cursor()))
            || (!far
                && (has_previous(index_set, UpdatePass::Vectors)
                    || is_incomplete(index_set, ledger, |pair| {
                        pair.vectors.get().map(|it| it.cursor())
                    })))
    }

    /// The same for vectors of a remote embedder.
    pub(crate) fn are_vectors_behind(&self, index_set: &IndexSet, ledger: Option<&Ledger>) -> bool {
        index_set.are_vectors_outdated.load(Ordering::Relaxed)
            || has_previous(index_set, UpdatePass::Vectors)
            || is_incomplete(index_set, ledger, |pair| pair.vectors.get().map(|it| it.cursor()))
    }

    pub(super) fn batch_limits(&self, pass: UpdatePass) -> &'static BatchLimits {
        match pass {
            UpdatePass::Both | UpdatePass::Bm25 => &LOCAL_BATCH,
            UpdatePass::Vectors => &REMOTE_BATCH,
            UpdatePass::Deep => &DEEP_BATCH,
        }
    }

    fn index_events(
        &self,
        pair: &IndexPair,
        ledger: &Ledger,
        pass: UpdatePass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let writers = IndexWriters::open(pair, pass)?;
        let mut put = 0;
        while !stop() {
            let _one_portion = self.lock_batch(pass);
            let from = parse_cursor(&writers.min_cursor());
            let upto_max = writers.leading_cursor().unwrap_or(u64::MAX);
            let step = self.read_event_batch(ledger, from, upto_max, self.batch_limits(pass))?;
            let Some(step) = step else { break };
            put += step.count;
            let batch = IndexBatch {
                removed: Vec::new(),
                added: step.entries,
                cursor: step.upto.to_string(),
            };
            writers.at_cursor(from).write(batch)?;
        }
        Ok(put)
    }

    fn read_event_batch(
        &self,
        ledger: &Ledger,
        from: u64,
        upto_max: u64,
        portion: &BatchLimits,
    ) -> Result<Option<EventBatch>, RecallError> {
        let mut step = EventBatch { upto: from, count: 0, entries: Vec::new() };
        let (mut read, mut bytes) = (Vec::new(), 0);
        for entry in ledger.read_outbox(from, portion.events)? {
            if bytes > portion.bytes || entry.seq > upto_max {
                break;
            }
            step.upto = entry.seq;
            step.count += 1;
            let Some(event) = ledger.event_at(&entry.position)? else { continue };
            bytes += event.text.len() + 256;
            read.push((entry.seq, event));
        }
        // Entries contain the line in the transcript, so the transcript has to be up to date first.
        if ledger.cursor(TRANSCRIPT_PROJECTION)? < step.upto {
            self.transcripts.write_new(ledger)?;
        }
        let events: Vec<&Event> = read.iter().map(|(_, event)| event).collect();
        let lines = self.find_event_lines(ledger, &events)?;
        for ((seq, event), line) in read.iter().zip(lines) {
            step.entries.extend(entries::event_entries(event, *seq, line));
        }
        Ok((step.upto > from).then_some(step))
    }

    /// Waits until no other index set is being updated, so that several rebuilds need the memory of
    /// one. Deep vectors take long and little memory: nothing waits for them.
    pub(super) fn lock_batch(&self, pass: UpdatePass) -> Option<MutexGuard<'_, ()>> {
        let lock = || self.batch_lock.lock().unwrap_or_else(PoisonError::into_inner);
        (pass != UpdatePass::Deep).then(lock)
    }

    /// Brings the indexes in line with the files on disk.
    fn index_files(
        &self,
        index_set: &IndexSet,
        kept: &mut UpdateState,
        pass: UpdatePass,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let writers = IndexWriters::open(&index_set.pages, pass)?;
        let mut strays = HashSet::new();
        if kept.files.is_none() {
            let had = writers.list_files()?;
            (kept.files, strays) = (Some(had.in_all), had.in_some);
        }
        let wanted = list_files(self, index_set)?;
        let stamps: HashSet<String> = wanted.iter().map(IndexableFile::stamp).collect();
        let indexed = kept.files.get_or_insert_default();
        let gone: Vec<String> =
            indexed.union(&strays).filter(|stamp| !stamps.contains(*stamp)).cloned().collect();
        let new: Vec<&IndexableFile> =
            wanted.iter().filter(|file| !indexed.contains(&file.stamp())).collect();
        let mut put = gone.len() as u64;
        let mut gone = Some(gone);
        let mut rest = new.as_slice();
        while !stop() && (!rest.is_empty() || gone.as_ref().is_some_and(|gone| !gone.is_empty())) {
            let _one_portion = self.lock_batch(pass);
            let left = gone.take().unwrap_or_default();
            let names = left.iter().map(|stamp| page_name_of_stamp(stamp).to_owned()).collect();
            let mut batch = IndexBatch { removed: names, ..IndexBatch::default() };
            let (mut taken, mut bytes) = (0, 0);
            for file in rest.iter().take(self.batch_limits(pass).files) {
                taken += 1;
                // Remove first, because one of the two indexes may already have it.
                batch.removed.push(file.page.name());
                let entries = self.build_file_entries(file);
                bytes += entries.iter().map(|entry| entry.text.len()).sum::<usize>();
                batch.added.extend(entries);
                if bytes > self.batch_limits(pass).bytes {
                    break;
                }
            }
            put += taken as u64;
            let (now, later) = rest.split_at(taken);
            rest = later;
            writers.write_keeping_cursors(batch)?;
            for stamp in &left {
                indexed.remove(stamp);
            }
            indexed.extend(now.iter().map(|file| file.stamp()));
        }
        publish_known_files(&index_set.known_in_bm25, writers.bm25(), indexed);
        if pass != UpdatePass::Deep {
            publish_known_files(&index_set.known_in_vectors, writers.vectors(), indexed);
        }
        Ok(put)
    }
}

struct EventBatch {
    upto: u64,
    count: u64,
    entries: Vec<IndexEntry>,
}

/// Describes an error in one line. Errors of an embedding endpoint do not name the index.
fn explain_error(error: &RecallError) -> String {
    match error {
        RecallError::Index(FinderError::Embed(error)) => error.to_string(),
        other => other.explained(),
    }
}

fn lock_state(kept: &Mutex<UpdateState>) -> MutexGuard<'_, UpdateState> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the index of an earlier embedder is still there.
fn has_previous(index_set: &IndexSet, pass: UpdatePass) -> bool {
    let pairs = [&index_set.events, &index_set.pages];
    pairs.iter().filter_map(|pair| pair.slot_of(pass)).any(VectorSlot::has_previous)
}

/// Returns whether an index is missing or behind the ledger.
fn is_incomplete(
    index_set: &IndexSet,
    ledger: Option<&Ledger>,
    cursor: impl Fn(&IndexPair) -> Option<String>,
) -> bool {
    let (Some(events), Some(pages)) = (cursor(&index_set.events), cursor(&index_set.pages)) else {
        return true;
    };
    let Some(ledger) = ledger else { return false };
    let Ok(changes) = ledger.last_node_change() else { return true };
    parse_cursor(&events) < ledger.last_seq() || parse_cursor(&pages) < changes
}
