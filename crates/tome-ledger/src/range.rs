//! Which events are asked for, and in which order they come.

use std::ops::Bound;

use tome_model::{EventId, Millis, SessionId};

use crate::{Span, key};

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// The oldest first.
    #[default]
    Forward,
    /// The newest first.
    Backward,
}

/// Where an event is. Positions of a store are ordered by when it happened, and at the same moment
/// by arrival.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When it happened.
    pub at: Millis,
    /// Its number in the outbox: no two events of a store share one.
    pub seq: u64,
    /// Its id.
    pub id: EventId,
}

impl Position {
    /// The place of the event in the order of its store.
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, seq: self.seq }
    }
}

/// A place in the order of a store, whether there is an event or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The moment.
    pub at: Millis,
    /// The number in the outbox.
    pub seq: u64,
}

/// Which events are asked for. The default is all of them, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventRange {
    /// Nothing before this moment.
    pub from: Option<Millis>,
    /// Nothing at this moment or after it.
    pub to: Option<Millis>,
    /// Only events of this session.
    pub session: Option<SessionId>,
    /// Only what comes behind this place in the direction of travel: where the last page ended.
    pub after: Option<Mark>,
    /// The oldest or the newest first.
    pub direction: Direction,
}

impl EventRange {
    /// The stretch of keys of `events`, or of `sessions` if a session is asked for.
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
            // The key of the event there begins with this.
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

/// Where the keys begin that come behind all that begin with `prefix`.
fn behind(prefix: &[u8]) -> Bound<Vec<u8>> {
    match Span::prefix(prefix).to {
        Bound::Excluded(end) => Bound::Included(end),
        // Nothing can be behind the last of all; no id is this long.
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
