//! Projections: what is built from a ledger's events and can be rebuilt from them.

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
