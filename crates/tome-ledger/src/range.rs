//! Ranges and positions of events.

use std::ops::Bound;

use tome_model::{EventId, Millis, SessionId};

use crate::{Span, key};

/// The direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Oldest first.
    #[default]
    Forward,
    /// Newest first.
    Backward,
}

/// The position of an event, ordered by time and then by arrival.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When the event happened.
    pub at: Millis,
    /// The event's number in the outbox, unique in a store.
    pub seq: u64,
    /// The event's id.
    pub id: EventId,
}

impl Position {
    /// The sort key of this position, without the id.
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, seq: self.seq }
    }
}

/// A point in the order of events, whether or not there is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The time.
    pub at: Millis,
    /// The number in the outbox.
    pub seq: u64,
}

/// Selects events. The default is all of them, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventRange {
    /// Inclusive start time.
    pub from: Option<Millis>,
    /// Exclusive end time.
    pub to: Option<Millis>,
    /// Only events of this session.
    pub session: Option<SessionId>,
    /// Only events after this point in the direction of the scan: the end of the previous page.
    pub after: Option<Mark>,
    /// Oldest or newest first.
    pub direction: Direction,
}

impl EventRange {
    /// The key range in `events`, or in `sessions` if a session is selected.
    pub(crate) fn span(&self) -> Span {
        let prefix = self.session.as_ref().map(key::session_prefix).unwrap_or_default();
        let moment = |at: Millis| [prefix.as_slice(), at.0.to_be_bytes().as_slice()].concat();
        let mut span = Span::prefix(&prefix);
        if let Some(from) = self.from {
            span.from = Bound::Included(moment(from));
        }
        if let Some(to) = self.to {
            span.to = Bound::Excluded(moment(to));
        }
        if let Some(Mark { at, seq }) = self.after {
            // The prefix of the event's key.
            let there = [prefix.as_slice(), &key::mark(at, seq)].concat();
            match self.direction {
                Direction::Forward if starts_before(&span.from, &there) => {
                    span.from = behind(&there);
                }
                Direction::Backward if ends_after(&span.to, &there) => {
                    span.to = Bound::Excluded(there);
                }
                Direction::Forward | Direction::Backward => {}
            }
        }
        span
    }
}

/// The lower bound of keys that sort after all keys with `prefix`.
fn behind(prefix: &[u8]) -> Bound<Vec<u8>> {
    match Span::prefix(prefix).to {
        Bound::Excluded(end) => Bound::Included(end),
        // No key sorts after this prefix; no id is this long.
        Bound::Included(_) | Bound::Unbounded => {
            Bound::Excluded([prefix, &[u8::MAX; 256]].concat())
        }
    }
}

fn starts_before(from: &Bound<Vec<u8>>, key: &Vec<u8>) -> bool {
    match from {
        Bound::Included(from) | Bound::Excluded(from) => from <= key,
        Bound::Unbounded => true,
    }
}

fn ends_after(to: &Bound<Vec<u8>>, key: &Vec<u8>) -> bool {
    match to {
        Bound::Included(to) | Bound::Excluded(to) => to >= key,
        Bound::Unbounded => true,
    }
}
