//! Settings of the contents: time zone and segment thresholds.

use tome_model::Zone;

use super::limits::BATCH_EVENTS;

/// Version of the algorithm. Raise it when segmentation, token counts or the built-in summaries
/// change; stores are then rebuilt.
const ALGORITHM_VERSION: u32 = 29;

/// How contents are built. Any change here except to `batch_events` rebuilds existing contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsSettings {
    /// Time zone in which days begin and end.
    pub zone: Zone,
    /// A longer pause ends a segment.
    pub gap_ms: u64,
    /// Upper bound on the tokens of a segment; a single larger event gets a segment of its own.
    pub tokens_max: u64,
    /// The summarizer also sees the events of this long before a segment.
    pub overlap_ms: u64,
    /// Upper bound on the tokens of those events.
    pub overlap_tokens_max: u64,
    /// Events per batch; does not affect the result.
    pub batch_events: usize,
}

impl ContentsSettings {
    /// Default thresholds in a time zone.
    pub fn in_zone(zone: Zone) -> Self {
        Self {
            zone,
            gap_ms: 30 * 60 * 1000,
            tokens_max: 4_000,
            overlap_ms: 5 * 60 * 1000,
            overlap_tokens_max: 500,
            batch_events: BATCH_EVENTS,
        }
    }

    /// Identifies the settings, summarizer and algorithm that existing contents were built with.
    pub(super) fn fingerprint(&self, summarizer: &str) -> String {
        format!(
            "scheme {ALGORITHM_VERSION}, {summarizer}, zone {}, gap {} ms, {} tokens, overlap {} ms and {} tokens",
            self.zone.name(),
            self.gap_ms,
            self.tokens_max,
            self.overlap_ms,
            self.overlap_tokens_max
        )
    }
}
