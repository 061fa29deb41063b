//! Ranges of events.

use std::ops::Bound;

use tome_model::{Millis, SessionId};

use crate::{KeyRange, OrderKey, ScanDirection, key};

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
    pub after: Option<OrderKey>,
    /// Oldest or newest first.
    pub direction: ScanDirection,
}

impl EventRange {
    /// The key range in `events`, or in `sessions` if a session is selected.
    pub(crate) fn key_range(&self) -> KeyRange {
        let prefix = self.session.as_ref().map(key::session_prefix).unwrap_or_default();
        let time_key = |at: Millis| [prefix.as_slice(), at.0.to_be_bytes().as_slice()].concat();
        let mut span = KeyRange::prefix(&prefix);
        if let Some(from) = self.from {
            span.from = Bound::Included(time_key(from));
        }
        if let Some(to) = self.to {
            span.to = Bound::Excluded(time_key(to));
        }
        if let Some(OrderKey { at, seq }) = self.after {
            // The prefix of the event's key.
            let there = [prefix.as_slice(), &key::order_prefix(at, seq)].concat();
            match self.direction {
                ScanDirection::Forward if starts_before(&span.from, &there) => {
                    span.from = start_after_prefix(&there);
                }
                ScanDirection::Backward if ends_after(&span.to, &there) => {
                    span.to = Bound::Excluded(there);
                }
                ScanDirection::Forward | ScanDirection::Backward => {}
            }
        }
        span
    }
}

/// The lower bound of keys that sort after all keys with `prefix`.
fn start_after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    match KeyRange::prefix(prefix).to {
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
