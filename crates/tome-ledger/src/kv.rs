//! The small ordered store on which the ledger is written: families of sorted keys, an atomic
//! batch across them, scans both ways, and a sync.
//!
//! What an engine promises: a batch is there as a whole or not at all, also after a crash; a batch
//! written `Synced` survives power loss, and so does every batch written before it.

use std::ops::Bound;
use std::path::Path;

use crate::{Batch, Direction, Engine, KvError};

/// A family of keys: what RocksDB calls a column family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// What happened, by when it happened.
    Events,
    /// Where to find an event by its id.
    Ids,
    /// The events of a session, by when they happened.
    Sessions,
    /// When words that were said very often were said.
    Sightings,
    /// The events in the order in which they arrived.
    Outbox,
    /// How far each worker has come.
    Checkpoints,
    /// Sessions, counted up.
    Tallies,
    /// The nodes of the contents, every version.
    TocNodes,
    /// The latest version of each node.
    TocLatest,
    /// Verbatim excerpts.
    Grips,
    /// The deliveries that brought the latest events.
    Deliveries,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Events,
        Self::Ids,
        Self::Sessions,
        Self::Sightings,
        Self::Outbox,
        Self::Checkpoints,
        Self::Tallies,
        Self::TocNodes,
        Self::TocLatest,
        Self::Grips,
        Self::Deliveries,
    ];

    /// The name on disk. Never reused for something else.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Ids => "ids",
            Self::Sessions => "sessions",
            Self::Sightings => "sightings",
            Self::Outbox => "outbox",
            Self::Checkpoints => "checkpoints",
            Self::Tallies => "tallies",
            Self::TocNodes => "toc_nodes",
            Self::TocLatest => "toc_latest",
            Self::Grips => "grips",
            Self::Deliveries => "deliveries",
        }
    }

    /// Its place in [`Family::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a write has survived when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Power loss.
    Synced,
    /// The end of this process, not that of the machine.
    Buffered,
}

/// A key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Keys and values on their way out, read as they are asked for.
pub type Pairs<'a> = Box<dyn Iterator<Item = Result<Pair, KvError>> + Send + 'a>;

/// A stretch of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub from: Bound<Vec<u8>>,
    /// Where it ends.
    pub to: Bound<Vec<u8>>,
}

impl Span {
    /// Every key.
    pub const ALL: Self = Self { from: Bound::Unbounded, to: Bound::Unbounded };

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { from: Bound::Included(prefix.to_vec()), to: after_prefix(prefix) }
    }

    /// Whether no key can be in it. Engines panic or complain when asked for such a stretch.
    pub fn is_empty(&self) -> bool {
        use Bound::{Excluded, Included, Unbounded};
        match (&self.from, &self.to) {
            (Unbounded, _) | (_, Unbounded) => false,
            (Included(from), Included(to)) => from > to,
            (Included(from) | Excluded(from), Included(to) | Excluded(to)) => from >= to,
        }
    }
}

/// The bound just behind every key that begins with `prefix`.
fn after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}

/// A small ordered store. Keys are never empty and shorter than 64 KiB.
pub trait KeyValue: Send + Sync {
    /// The directory it lives in.
    fn path(&self) -> &Path;

    /// Which engine it is.
    fn engine(&self) -> Engine;

    /// The value of a key.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, KvError>;

    /// The keys of a stretch in order, or in reverse order.
    fn scan(&self, family: Family, span: Span, direction: Direction) -> Pairs<'_>;

    /// Writes a batch, all of it or nothing.
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError>;

    /// Makes everything written so far survive power loss.
    fn sync(&self) -> Result<(), KvError>;

    /// Moves what is in memory into tables, so that the next open has nothing to replay.
    fn flush(&self) -> Result<(), KvError>;

    /// Rewrites the tables without what is outdated.
    fn compact(&self) -> Result<(), KvError>;

    /// How much room it takes on disk.
    fn disk_bytes(&self) -> u64;

    /// How many keys a family holds, where the engine knows without reading them. Exact for a
    /// family whose keys are never overwritten or deleted.
    fn key_count(&self, _family: Family) -> Option<u64> {
        None
    }

    /// The damage that reads have skipped since the store was opened.
    fn damage(&self) -> Vec<String> {
        Vec::new()
    }

    /// Reads every file as a whole and checks it against its checksum. Returns what does not match.
    fn verify_files(&self) -> Result<Vec<String>, KvError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_spans_exactly_its_keys() {
        let span = Span::prefix(b"a\xff");
        assert_eq!(span.from, Bound::Included(b"a\xff".to_vec()));
        assert_eq!(span.to, Bound::Excluded(b"b".to_vec()));
        assert_eq!(Span::prefix(b"\xff").to, Bound::Unbounded);
        assert_eq!(Span::prefix(b""), Span { from: Bound::Included(vec![]), to: Bound::Unbounded });
    }

    #[test]
    fn families_know_their_place() {
        for (place, family) in Family::ALL.into_iter().enumerate() {
            assert_eq!(family.index(), place);
        }
    }
}
