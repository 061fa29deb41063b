//! Indexes the deep vectors of messages and nodes, in small batches.
//!
//! Computing vectors takes long, with low priority even longer, so no ledger is held meanwhile: repairing
//! or moving a store does not wait for it.

use std::path::Path;

use tome_contents::authored_kind;
use tome_finder::{IndexBatch, IndexEntry, RecordKind};
use tome_ledger::Ledger;
use tome_model::{Event, EventKind};

use super::done_ranges::DoneRanges;
use super::entries::event_entries;
use super::index_set::{IndexPair, IndexSet, UpdatePass, parse_cursor};
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

/// Reads the next batch after a cursor; `None` if nothing is missing.
type ReadBatch<'r> = &'r dyn Fn(&Ledger, &str) -> Result<Option<CountedBatch>, RecallError>;

impl Indexer {
    /// Indexes the messages that are missing, the newest first, so that recent work is found best long
    /// before an import is complete; then the nodes that changed.
    pub(super) fn index_deep_records(
        &self,
        index_set: &IndexSet,
        ledger: &Path,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let nodes_max = self.batch_limits(UpdatePass::Deep).nodes;
        let read_nodes = |ledger: &Ledger, cursor: &str| read_node_batch(ledger, cursor, nodes_max);
        let write = |pair: &IndexPair, read_next: ReadBatch<'_>| {
            self.write_deep_batches(ledger, pair, read_next, stop)
        };
        Ok(IndexUpdate {
            events: write(&index_set.events, &read_event_batch)?,
            pages: write(&index_set.pages, &read_nodes)?,
            created: 0,
        })
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
