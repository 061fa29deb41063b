//! A ring of hashes of the latest events, to detect duplicates.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tome_model::{EventKind, Millis, limits::DUPLICATE_WINDOW_MS};

use super::compact_text::stable_hash;
use super::limits::RECENT_EVENTS_MAX;

/// Identifies an event: by its id, or by its words and their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TriggerFingerprint {
    key: u64,
    at_ms: Option<u64>,
}

impl TriggerFingerprint {
    /// Includes the kind: a stop may repeat the words of the message before it.
    pub(super) fn new(kind: EventKind, id: &str, at: Option<Millis>) -> Self {
        Self { key: stable_hash(&[kind.as_str(), id]), at_ms: at.map(|at| at.0) }
    }

    fn is_same_event(self, other: Self) -> bool {
        self.key == other.key
            && match (self.at_ms, other.at_ms) {
                (Some(one), Some(other)) => one.abs_diff(other) <= DUPLICATE_WINDOW_MS,
                _ => true,
            }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecentEvents(VecDeque<TriggerFingerprint>);

impl RecentEvents {
    /// Whether this event is new; also remembers it.
    pub(super) fn insert_if_new(&mut self, fingerprint: TriggerFingerprint) -> bool {
        if self.0.iter().any(|known| known.is_same_event(fingerprint)) {
            return false;
        }
        while self.0.len() >= RECENT_EVENTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(fingerprint);
        true
    }
}
