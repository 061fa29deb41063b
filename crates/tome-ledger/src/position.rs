//! Positions in the order of events: by time, then by arrival.

use tome_model::{EventId, Millis};

/// The position of an event, ordered by time and then by arrival.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPosition {
    /// When the event happened.
    pub at: Millis,
    /// The event's number in the outbox, unique in a store.
    pub seq: u64,
    /// The event's id.
    pub id: EventId,
}

impl EventPosition {
    /// The sort key of this position, without the id.
    pub fn order_key(&self) -> OrderKey {
        OrderKey { at: self.at, seq: self.seq }
    }
}

/// A point in the order of events, whether or not there is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey {
    /// The time.
    pub at: Millis,
    /// The number in the outbox.
    pub seq: u64,
}
