//! Events as they are stored, and their ids, times and zones.

pub use tome_model::{
    Agent, Clock, Draft, Event, EventId, EventKind, Identity, InvalidInput, Millis, Role,
    SessionId, SystemClock, Tool, Zone,
};
