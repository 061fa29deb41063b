//! How much work a query may cost.

use std::time::{Duration, Instant};

use super::Tier;
use super::weights::{
    BM25_DEPTH, PAGES_DEPTH, PAGES_READ_MAX, PROACTIVE_DEPTH, PROACTIVE_PAGES_MAX,
    PROACTIVE_READ_MAX, READ_MAX, VECTORS_DEPTH, VECTORS_READ_MAX,
};

/// Time limit of a scan without an index.
const SCAN_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for a proactive search: an agent does not wait longer.
const PROACTIVE_SCAN_TIME_MAX: Duration = Duration::from_secs(1);

/// How much work a query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEffort {
    /// A person or an agent asked, and waits for the best answer.
    Full,
    /// A proactive query, which looks for hints while an agent waits: only cheap steps. Hints that
    /// are late are added to the next prompt.
    Proactive,
}

/// Maximum number of chunks to take from each index of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexDepths {
    pub bm25: usize,
    pub vectors: usize,
}

impl SearchEffort {
    /// Returns whether a scan without an index that began at `since` has used up its time.
    pub(super) fn is_scan_over(self, since: Instant) -> bool {
        since.elapsed()
            > match self {
                Self::Full => SCAN_TIME_MAX,
                Self::Proactive => PROACTIVE_SCAN_TIME_MAX,
            }
    }

    /// `is_wide`: the query covers many index sets. No more of one are taken than are read of all.
    pub(super) fn event_depths(self, is_wide: bool) -> IndexDepths {
        match self {
            Self::Full if is_wide => IndexDepths { bm25: READ_MAX, vectors: VECTORS_READ_MAX },
            Self::Full => IndexDepths { bm25: BM25_DEPTH, vectors: VECTORS_DEPTH },
            // The similarity of BM25 hits is looked up instead of scanning vectors.
            Self::Proactive => IndexDepths { bm25: PROACTIVE_DEPTH, vectors: 0 },
        }
    }

    pub(super) fn page_depths(self, is_wide: bool) -> IndexDepths {
        match self {
            Self::Full if is_wide => IndexDepths { bm25: PAGES_READ_MAX, vectors: PAGES_READ_MAX },
            Self::Full => IndexDepths { bm25: PAGES_DEPTH, vectors: PAGES_DEPTH },
            Self::Proactive => {
                IndexDepths { bm25: 2 * PROACTIVE_PAGES_MAX, vectors: PROACTIVE_PAGES_MAX }
            }
        }
    }

    /// Maximum number of events that a tier found whose texts are read.
    pub(super) fn events_read_max(self, tier: Tier) -> usize {
        match (self, tier) {
            (Self::Proactive, _) => PROACTIVE_READ_MAX,
            (Self::Full, Tier::Vectors) => VECTORS_READ_MAX,
            (Self::Full, _) => READ_MAX,
        }
    }

    /// Maximum number of pages that a tier found whose texts are read.
    pub(super) fn pages_read_max(self) -> usize {
        match self {
            Self::Full => PAGES_READ_MAX,
            Self::Proactive => PROACTIVE_PAGES_MAX,
        }
    }

    /// Returns whether the search may take its time. Only then does it also read pages that an index
    /// has not read, foreign lines, and the turns around a hit.
    pub(super) fn is_full(self) -> bool {
        self == Self::Full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proactive_scans_end_earlier_than_full_ones() {
        let now = Instant::now();
        let two_seconds_ago = now.checked_sub(Duration::from_secs(2)).unwrap();
        assert!(SearchEffort::Proactive.is_scan_over(two_seconds_ago));
        assert!(!SearchEffort::Proactive.is_scan_over(now));
        assert!(!SearchEffort::Full.is_scan_over(two_seconds_ago));
    }
}
