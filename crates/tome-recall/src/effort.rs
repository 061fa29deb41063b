//! How much work a query may cost.

use std::time::{Duration, Instant};

use super::Tier;
use super::weights::{
    BM25_DEPTH, PAGES_DEPTH, PAGES_READ_MAX, PROACTIVE_DEPTH, PROACTIVE_PAGES_MAX,
    PROACTIVE_READ_MAX, READ_MAX, VECTORS_DEPTH, VECTORS_READ_MAX,
};

/// Time limit of a scan without an index.
const SCAN_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for a quick search: an agent does not wait longer.
const QUICK_SCAN_TIME_MAX: Duration = Duration::from_secs(1);

/// How much work a query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEffort {
    /// Someone asked and waits for the best answer.
    Full,
    /// Nobody asked, and an agent waits: only cheap steps. Late results go into its next step.
    Quick,
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
                Self::Quick => QUICK_SCAN_TIME_MAX,
            }
    }

    /// `is_wide`: the query covers many index sets. No more of one are taken than are read of all.
    pub(super) fn event_depths(self, is_wide: bool) -> IndexDepths {
        match self {
            Self::Full if is_wide => IndexDepths { bm25: READ_MAX, vectors: VECTORS_READ_MAX },
            Self::Full => IndexDepths { bm25: BM25_DEPTH, vectors: VECTORS_DEPTH },
            // The similarity of BM25 hits is looked up instead of scanning vectors.
            Self::Quick => IndexDepths { bm25: PROACTIVE_DEPTH, vectors: 0 },
        }
    }

    pub(super) fn page_depths(self, is_wide: bool) -> IndexDepths {
        match self {
            Self::Full if is_wide => IndexDepths { bm25: PAGES_READ_MAX, vectors: PAGES_READ_MAX },
            Self::Full => IndexDepths { bm25: PAGES_DEPTH, vectors: PAGES_DEPTH },
            Self::Quick => {
                IndexDepths { bm25: 2 * PROACTIVE_PAGES_MAX, vectors: PROACTIVE_PAGES_MAX }
            }
        }
    }

    /// Maximum number of events that a tier found whose texts are read.
    pub(super) fn events_read_max(self, tier: Tier) -> usize {
        match (self, tier) {
            (Self::Quick, _) => PROACTIVE_READ_MAX,
            (Self::Full, Tier::Vectors) => VECTORS_READ_MAX,
            (Self::Full, _) => READ_MAX,
        }
    }

    /// Maximum number of pages that a tier found whose texts are read.
    pub(super) fn pages_read_max(self) -> usize {
        match self {
            Self::Full => PAGES_READ_MAX,
            Self::Quick => PROACTIVE_PAGES_MAX,
        }
    }

    /// Returns whether everything that an index lacks is searched, too: pages it has not read,
    /// foreign lines, the turns around a hit.
    pub(super) fn is_full(self) -> bool {
        self == Self::Full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_scans_end_earlier_than_full_ones() {
        let now = Instant::now();
        let two_seconds_ago = now.checked_sub(Duration::from_secs(2)).unwrap();
        assert!(SearchEffort::Quick.is_scan_over(two_seconds_ago));
        assert!(!SearchEffort::Quick.is_scan_over(now));
        assert!(!SearchEffort::Full.is_scan_over(two_seconds_ago));
    }
}
