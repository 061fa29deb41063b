//! Projections: what is built from a ledger's events and can be rebuilt from them.

use tome_ledger::{Ledger, LedgerError, OutboxEntry, WorkerCommit};

use crate::{HomeError, Store};

/// The state of one projection of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectionReport {
    /// Its name, under which its cursor is kept.
    pub name: &'static str,
    /// The outbox number up to which it is complete.
    pub cursor: u64,
    /// Outbox entries that it has yet to process.
    pub behind: u64,
    /// Entries in it, if known.
    pub entries: Option<u64>,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// The embedder that made its vectors.
    pub embedder: Option<String>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// A view of a store's events that can be deleted and rebuilt from them: session statistics, contents,
/// transcripts, search indexes.
///
/// A projection follows the outbox of a store from a durable cursor. Several threads may catch up at
/// once: the one that comes second finds the cursor moved and reads on from there.
pub trait Projection: Send + Sync {
    /// Its name, under which its cursor is kept.
    fn name(&self) -> &'static str;

    /// The outbox number up to which it is complete.
    fn cursor(&self, store: &Store) -> Result<u64, HomeError> {
        Ok(store.cursor(self.name())?)
    }

    /// Whether there is anything to catch up with. Costs no more than reading a cursor.
    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.cursor(store)? < store.last_seq())
    }

    /// Processes everything that has arrived since the cursor. Returns early, with the part done so far
    /// kept, once `stop` returns true.
    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError>;

    /// Builds it again from the events.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError>;

    /// Its state, without catching up: one report, or one per index where it has several.
    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let cursor = self.cursor(store)?;
        let behind = store.last_seq().saturating_sub(cursor);
        Ok(vec![ProjectionReport {
            name: self.name(),
            cursor,
            behind,
            ..ProjectionReport::default()
        }])
    }
}

/// Follows the outbox from a projection's cursor, a batch at a time. `process` gets the cursor and the entries
/// behind it, and returns the number of the last one it processed and the results to write; results and
/// cursor are committed together. Returns the number of entries processed.
pub fn follow_outbox(
    ledger: &Ledger,
    name: &str,
    batch_max: usize,
    stop: &dyn Fn() -> bool,
    mut process: impl FnMut(u64, &[OutboxEntry]) -> Result<(u64, WorkerCommit), HomeError>,
) -> Result<u64, HomeError> {
    let mut processed = 0;
    while !stop() {
        let from_seq = ledger.cursor(name)?;
        let entries = ledger.read_outbox(from_seq, batch_max)?;
        if entries.is_empty() {
            break;
        }
        let (upto_seq, results) = process(from_seq, &entries)?;
        match ledger.commit(WorkerCommit { worker: name.to_owned(), from_seq, upto_seq, ..results })
        {
            Ok(()) => processed += upto_seq.saturating_sub(from_seq),
            // Another thread has processed this batch.
            Err(LedgerError::InvalidCommit { .. }) if ledger.cursor(name)? > from_seq => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(processed)
}
