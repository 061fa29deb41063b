//! Where segments are cut.

use tome_model::Zone;

use super::limits::BATCH_EVENTS;

/// What this code makes of events, as a number: whoever changes how segments are cut, tokens are
/// counted or summaries are made by the built-in summarizer raises it, and stores are made anew.
const SCHEME: u32 = 3;

/// How contents are made. Another zone or other thresholds make other contents: what was made
/// before is then made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsSettings {
    /// Where days are days.
    pub zone: Zone,
    /// Silence longer than this ends a segment.
    pub gap_ms: u64,
    /// A segment holds no more tokens than this, unless its one event does.
    pub tokens_max: u64,
    /// What came before a segment is shown to the summarizer from so long ago.
    pub overlap_ms: u64,
    /// And so many tokens of it.
    pub overlap_tokens_max: u64,
    /// Events that are taken up at a time. Changes nothing in the result.
    pub batch_events: usize,
}

impl ContentsSettings {
    /// The usual thresholds.
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

    /// What has to be the same for contents to be the same.
    pub(super) fn fingerprint(&self, summarizer: &str) -> String {
        format!(
            "scheme {SCHEME}, {summarizer}, zone {}, gap {} ms, {} tokens, overlap {} ms and {} tokens",
            self.zone.name(),
            self.gap_ms,
            self.tokens_max,
            self.overlap_ms,
            self.overlap_tokens_max
        )
    }
}
