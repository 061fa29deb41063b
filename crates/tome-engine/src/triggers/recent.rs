//! A ring of hashes of the latest events, to detect duplicates.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tome_model::{EventKind, Millis, limits::SAME_SIGHTING_MS};

use super::limits::RECENT_MAX;
use super::words::hash;

/// Identifies an event: by its id, or by its words and their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sighting {
    key: u64,
    at_ms: Option<u64>,
}

impl Sighting {
    /// Includes the kind: a stop may repeat the words of the message before it.
    pub(super) fn of(kind: EventKind, id: &str, at: Option<Millis>) -> Self {
        Self { key: hash(&[kind.as_str(), id]), at_ms: at.map(|at| at.0) }
    }

    fn is(self, other: Self) -> bool {
        self.key == other.key
            && match (self.at_ms, other.at_ms) {
                (Some(one), Some(other)) => one.abs_diff(other) <= SAME_SIGHTING_MS,
                _ => true,
            }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recent(VecDeque<Sighting>);

impl Recent {
    /// Whether this event is new; also remembers it.
    pub(super) fn is_new(&mut self, sighting: Sighting) -> bool {
        if self.0.iter().any(|known| known.is(sighting)) {
            return false;
        }
        while self.0.len() >= RECENT_MAX {
            self.0.pop_front();
        }
        self.0.push_back(sighting);
        true
    }
}
