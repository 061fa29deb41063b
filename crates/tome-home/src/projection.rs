//! Projections: data that is built from a ledger's events and can be rebuilt from them.

use tome_ledger::{Ledger, LedgerError, OutboxEntry, ProjectionCommit};

use crate::{HomeError, Store};

/// The state of one projection of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectionReport {
    /// The name of the projection and of its cursor.
    pub name: &'static str,
    /// Outbox number of the last processed entry.
    pub cursor: u64,
    /// Outbox entries still to process.
    pub behind: u64,
    /// Number of entries, if known.
    pub entries: Option<u64>,
    /// Size on disk.
    pub disk_bytes: u64,
    /// The embedder that computed its vectors.
    pub embedder: Option<String>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

impl ProjectionReport {
    /// The state of a projection that follows the outbox from a cursor in the ledger.
    pub fn from_cursor(name: &'static str, store: &Store) -> Result<Self, HomeError> {
        let cursor = store.cursor(name)?;
        let behind = store.last_seq().saturating_sub(cursor);
        Ok(Self { name, cursor, behind, ..Self::default() })
    }
}

/// A view of a store's events that can be deleted and rebuilt from them: session statistics, contents,
/// transcripts, search indexes.
///
/// A projection follows the outbox of a store from a durable cursor. Several threads may catch up at
/// once: the second one finds that the cursor has moved and continues from there.
pub trait Projection: Send + Sync {
    /// The name of the projection and of its cursor.
    fn name(&self) -> &'static str;

    /// Whether there is anything to catch up with. Costs no more than reading a cursor.
    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(store.cursor(self.name())? < store.last_seq())
    }

    /// Processes the events after the cursor. Returns early once `stop` returns true; finished batches
    /// stay committed.
    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError>;

    /// Rebuilds it from the events.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError>;

    /// Its state, in parts if it has several; does not catch up. A projection that only queues work has
    /// nothing to report.
    fn report(&self, _store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        Ok(Vec::new())
    }
}

/// Follows the outbox from a projection's cursor in batches. `process` gets the cursor and the
/// entries after it, and returns the number of the last processed entry and the results to write;
/// both are committed together. Returns the number of entries processed.
pub fn follow_outbox(
    ledger: &Ledger,
    name: &str,
    batch_max: usize,
    stop: &dyn Fn() -> bool,
    mut process: impl FnMut(u64, &[OutboxEntry]) -> Result<(u64, ProjectionCommit), HomeError>,
) -> Result<u64, HomeError> {
    let mut processed = 0;
    while !stop() {
        let from_seq = ledger.cursor(name)?;
        let entries = ledger.read_outbox(from_seq, batch_max)?;
        if entries.is_empty() {
            break;
        }
        let (upto_seq, results) = process(from_seq, &entries)?;
        match ledger.commit(ProjectionCommit {
            projection: name.to_owned(),
            from_seq,
            upto_seq,
            ..results
        }) {
            Ok(()) => processed += upto_seq.saturating_sub(from_seq),
            // Another thread has processed this batch.
            Err(LedgerError::InvalidCommit { .. }) if ledger.cursor(name)? > from_seq => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(processed)
}
