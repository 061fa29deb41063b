//! Indexes the deep vectors of messages and nodes, in small batches.
//!
//! Computing vectors takes long, with low priority even longer, so no ledger is held meanwhile: repairing
//! or moving a store does not wait for it.

use std::path::Path;

use tome_contents::authored_kind;
use tome_finder::{IndexBatch, IndexEntry, RecordKind};
use tome_ledger::Ledger;
use tome_model::{Event, EventKind, Millis};

use super::done_ranges::DoneRanges;
use super::entries::event_entries;
use super::index_set::{IndexPair, IndexSet, UpdatePass};
use super::index_slot::parse_cursor;
use super::nodes::{build_node_batch, read_changed_nodes};
use super::writers::IndexWriters;
use super::{IndexUpdate, Indexer};
use crate::RecallError;

/// Number of events per batch.
const EVENTS_MAX: usize = 64;
/// Number of chunks per batch; each takes up to 30 ms.
const CHUNKS_MAX: usize = 64;
/// Chunks of one event that get a deep vector. More are a document, found by its other vectors.
const EVENT_CHUNKS_MAX: usize = 32;

/// A batch and the number of events or nodes in it.
type CountedBatch = (IndexBatch, u64);

/// Reads the next batch after a cursor; `None` if there is none.
type ReadBatch<'r> = &'r dyn Fn(&Ledger, &str) -> Result<Option<CountedBatch>, RecallError>;

impl Indexer {
    /// Indexes the messages that are missing, the newest first and back to a time, so that recent work is
    /// found best long before an import is complete; once none is missing, the nodes that changed.
    pub(super) fn index_deep_records(
        &self,
        index_set: &IndexSet,
        ledger: &Path,
        since: Millis,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let nodes_max = self.batch_limits(UpdatePass::Deep).nodes;
        let read_events =
            |ledger: &Ledger, cursor: &str| read_event_batch_since(ledger, cursor, since);
        let read_nodes = |ledger: &Ledger, cursor: &str| read_node_batch(ledger, cursor, nodes_max);
        let write = |pair: &IndexPair, read_next: ReadBatch<'_>| {
            self.write_deep_batches(ledger, pair, read_next, stop)
        };
        let events = write(&index_set.events, &read_events)?;
        let cursor = IndexWriters::open(&index_set.events, UpdatePass::Deep)?.min_cursor();
        let last = self.stores.open_for_upkeep(ledger)?.last_seq();
        let has_all = DoneRanges::parse(&cursor).newest_missing(last, 1).is_none();
        let pages = if has_all { write(&index_set.pages, &read_nodes)? } else { 0 };
        Ok(IndexUpdate { events, pages, created: 0 })
    }

    /// Time of the newest event without a deep vector; the beginning of time if only pages lack theirs.
    /// `None` if nothing does.
    pub(crate) fn newest_without_deep(
        &self,
        index_set: &IndexSet,
        ledger: &Ledger,
    ) -> Result<Option<Millis>, RecallError> {
        let Some(deep) =
            self.deep.as_ref().filter(|_| self.is_deep_behind(index_set, Some(ledger)))
        else {
            return Ok(None);
        };
        let events = index_set.events.open_existing_deep(deep);
        let cursor = events.map(|events| events.cursor()).unwrap_or_default();
        let missing = DoneRanges::parse(&cursor).newest_missing(ledger.last_seq(), 1);
        let at = missing.map(|missing| time_of_event(ledger, *missing.end())).transpose()?;
        Ok(Some(at.flatten().unwrap_or(Millis(0))))
    }

    /// Writes batches until none is left or `stop` returns true. Returns the number of records written.
    fn write_deep_batches(
        &self,
        path: &Path,
        pair: &IndexPair,
        read_next: ReadBatch<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let mut put = 0;
        while !stop() {
            let cursor = IndexWriters::open(pair, UpdatePass::Deep)?.min_cursor();
            let ledger = self.stores.open_for_upkeep(path)?;
            let Some((batch, _)) = read_next(&ledger, &cursor)? else { break };
            drop(ledger);
            self.prepare_vectors(&batch.added)?;
            // Everything is read again, because the store may have been repaired and its indexes
            // deleted meanwhile. The vectors of the same texts are there.
            let ledger = self.stores.open_for_upkeep(path)?;
            let writers = IndexWriters::open(pair, UpdatePass::Deep)?;
            let Some((batch, count)) = read_next(&ledger, &writers.min_cursor())? else { break };
            writers.write(batch)?;
            put += count;
        }
        Ok(put)
    }

    /// Computes the deep vectors of entries, for when they are written.
    fn prepare_vectors(&self, entries: &[IndexEntry]) -> Result<(), RecallError> {
        let Some(deep) = &self.deep else { return Ok(()) };
        deep.prepare(entries.iter().map(|entry| entry.embedded_text().into_owned()).collect())
            .map_err(|error| RecallError::Index(error.into()))
    }
}

/// Like [`read_event_batch`]; `None` if the newest missing event is older than `since`.
fn read_event_batch_since(
    ledger: &Ledger,
    cursor: &str,
    since: Millis,
) -> Result<Option<CountedBatch>, RecallError> {
    let missing = DoneRanges::parse(cursor).newest_missing(ledger.last_seq(), 1);
    let Some(missing) = missing else { return Ok(None) };
    if since > Millis(0) && time_of_event(ledger, *missing.end())?.is_some_and(|at| at < since) {
        return Ok(None);
    }
    read_event_batch(ledger, cursor)
}

/// When an event happened; `None` if it cannot be read.
fn time_of_event(ledger: &Ledger, seq: u64) -> Result<Option<Millis>, RecallError> {
    let entry = ledger.read_outbox(seq - 1, 1)?.into_iter().find(|entry| entry.seq == seq);
    let Some(entry) = entry else { return Ok(None) };
    Ok(ledger.event_at(&entry.position)?.map(|event| event.at))
}

fn read_event_batch(ledger: &Ledger, cursor: &str) -> Result<Option<CountedBatch>, RecallError> {
    let mut done = DoneRanges::parse(cursor);
    let Some(missing) = done.newest_missing(ledger.last_seq(), EVENTS_MAX as u64) else {
        return Ok(None);
    };
    let (first, last) = missing.into_inner();
    let (mut added, mut chunks, mut from) = (Vec::new(), 0, last + 1);
    // Backwards, so that a batch that is full covers the newest.
    for entry in ledger.read_outbox(first - 1, EVENTS_MAX)?.into_iter().rev() {
        if entry.seq > last {
            continue;
        }
        if chunks >= CHUNKS_MAX {
            break;
        }
        from = entry.seq;
        let event = ledger.event_at(&entry.position)?;
        let Some(event) = event.filter(has_deep_vector) else { continue };
        let mut entries = event_entries(&event, entry.seq, 0);
        entries.truncate(EVENT_CHUNKS_MAX);
        chunks += entries.len();
        added.push(entries);
    }
    // Entries that cannot be read are done, too.
    let from = if chunks >= CHUNKS_MAX { from } else { first };
    done.add(from..=last);
    // In order of the events.
    let added = added.into_iter().rev().flatten().collect();
    let batch = IndexBatch { removed: Vec::new(), added, cursor: done.render() };
    Ok(Some((batch, last - from + 1)))
}

fn read_node_batch(
    ledger: &Ledger,
    cursor: &str,
    nodes_max: usize,
) -> Result<Option<CountedBatch>, RecallError> {
    let changed = read_changed_nodes(ledger, parse_cursor(cursor), nodes_max)?;
    let Some((nodes, upto)) = changed else { return Ok(None) };
    let mut batch = build_node_batch(ledger, &nodes)?;
    // The events that they are excerpts of have deep vectors of their own.
    batch.added.retain(|entry| entry.source != RecordKind::Grip);
    batch.cursor = upto.to_string();
    Ok(Some((batch, nodes.len() as u64)))
}

/// Returns whether an event gets a deep vector: what people and agents say, not what tools print.
fn has_deep_vector(event: &Event) -> bool {
    authored_kind(event) != EventKind::ToolResult
}
