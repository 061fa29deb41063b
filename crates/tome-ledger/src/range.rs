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

/// Where an event is: when it happened, and its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When it happened.
    pub at: Millis,
    /// Its id.
    pub id: EventId,
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
    /// Only what comes behind this event in the direction of travel: where the last page ended.
    pub after: Option<Position>,
    /// The oldest or the newest first.
    pub direction: Direction,
}

impl EventRange {
    /// The stretch of keys of `events`, or of `sessions` if a session is asked for.
    pub(crate) fn span(&self) -> Span {
        let prefix = self
            .session
            .as_ref()
            .map(key::session_prefix)
            .unwrap_or_default();
        let moment = |at: Millis| [prefix.as_slice(), at.0.to_be_bytes().as_slice()].concat();
        let mut span = Span::prefix(&prefix);
        if let Some(from) = self.from {
            span.from = Bound::Included(moment(from));
        }
        if let Some(to) = self.to {
            span.to = Bound::Excluded(moment(to));
        }
        if let Some(after) = &self.after {
            let behind = [prefix.as_slice(), &key::event(after)].concat();
            match self.direction {
                Direction::Forward if starts_before(&span.from, &behind) => {
                    span.from = Bound::Excluded(behind);
                }
                Direction::Backward if ends_after(&span.to, &behind) => {
                    span.to = Bound::Excluded(behind);
                }
                Direction::Forward | Direction::Backward => {}
            }
        }
        span
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
