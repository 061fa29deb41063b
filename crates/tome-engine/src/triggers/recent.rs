//! The events just seen, so that one that comes again is recognised: a ring of hashes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tome_model::{EventKind, Millis, limits::SAME_SIGHTING_MS};

use super::limits::RECENT_MAX;
use super::words::hash;

/// What recognises an event: its id, or its words and when they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sighting {
    key: u64,
    at_ms: Option<u64>,
}

impl Sighting {
    /// The kind belongs to it: a stop may say the words of the message before it.
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

/// The latest sightings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recent(VecDeque<Sighting>);

impl Recent {
    /// Whether this one is new; from now on it is not.
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
