//! Indexes the deep vectors of messages, the newest first.

use tome_contents::authored_kind;
use tome_finder::IndexBatch;
use tome_ledger::Ledger;
use tome_model::{Event, EventKind};

use super::Indexer;
use super::done_ranges::DoneRanges;
use super::entries::event_entries;
use super::index_set::IndexPair;
use super::writers::{IndexWriters, UpdatePass};
use crate::RecallError;

/// Number of events per batch.
const EVENTS_MAX: usize = 64;
/// Number of chunks per batch; each takes up to 30 ms.
const CHUNKS_MAX: usize = 64;
/// Chunks of one event that get a deep vector. More are a document, found by its other vectors.
const EVENT_CHUNKS_MAX: usize = 32;

impl Indexer {
    /// Indexes the events that are missing, the newest first, so that recent work is found best long
    /// before an import is complete.
    pub(super) fn index_deep_events(
        &self,
        pair: &IndexPair,
        ledger: &Ledger,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, RecallError> {
        let writers = IndexWriters::open(pair, UpdatePass::Deep)?;
        let mut put = 0;
        while !stop() {
            let mut done = DoneRanges::parse(&writers.min_cursor());
            let Some(missing) = done.newest_missing(ledger.last_seq(), EVENTS_MAX as u64) else {
                break;
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
            put += last - from + 1;
            // In order of the events.
            let added = added.into_iter().rev().flatten().collect();
            writers.write(IndexBatch { removed: Vec::new(), added, cursor: done.render() })?;
        }
        Ok(put)
    }
}

/// Returns whether an event gets a deep vector: what people and agents say, not what tools print.
fn has_deep_vector(event: &Event) -> bool {
    authored_kind(event) != EventKind::ToolResult
}
