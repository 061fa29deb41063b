//! The families: key spaces of a store.

/// A key space: RocksDB's column family, fjall's keyspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Events by time.
    Events,
    /// Position of an event by its id.
    Ids,
    /// Events of a session by time.
    Sessions,
    /// Occurrences of frequently repeated words, by time.
    Sightings,
    /// Events in order of arrival.
    Outbox,
    /// Cursors of the projections.
    Checkpoints,
    /// Statistics of the sessions.
    SessionStats,
    /// Every version of every node of the contents.
    TocNodes,
    /// Header of the latest version of each node, and the segments of each session.
    TocLatest,
    /// Verbatim excerpts that support bullets.
    Grips,
    /// Recent deliveries and their events.
    Deliveries,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 11] = [
        Self::Events,
        Self::Ids,
        Self::Sessions,
        Self::Sightings,
        Self::Outbox,
        Self::Checkpoints,
        Self::SessionStats,
        Self::TocNodes,
        Self::TocLatest,
        Self::Grips,
        Self::Deliveries,
    ];

    /// The name on disk. Never reused for another family.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Ids => "ids",
            Self::Sessions => "sessions",
            Self::Sightings => "sightings",
            Self::Outbox => "outbox",
            Self::Checkpoints => "checkpoints",
            Self::SessionStats => "tallies",
            Self::TocNodes => "toc_nodes",
            Self::TocLatest => "toc_latest",
            Self::Grips => "grips",
            Self::Deliveries => "deliveries",
        }
    }

    /// The index in [`Family::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_match_their_index() {
        for (index, family) in Family::ALL.into_iter().enumerate() {
            assert_eq!(family.index(), index);
        }
    }
}
