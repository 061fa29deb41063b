//! The ledger: the append-only store of events and of what is derived from them.
//!
//! This crate knows no socket, no clock, no project and no agent; it is the only one that names a
//! storage engine. An acknowledged event has been synced to disk. Events are never changed and
//! never deleted. After a failed write it refuses every further one until it is opened again.
//!
//! From the bottom up: a [`KeyValue`] store (two engines), the [`Store`] that guards a directory
//! of it, and the [`Ledger`] written once on top.

mod batch;
mod codec;
mod contents;
mod counts;
mod damage;
mod delivery;
mod engine;
mod error;
mod event_value;
mod key;
mod kv;
mod ledger;
mod limits;
mod new_event;
mod outbox;
mod projection;
mod queue;
mod range;
mod repair;
mod resolve;
mod store;
mod store_file;
mod verify;
mod writer;

pub use batch::{Batch, Op};
pub use contents::{
    Began, GripWrite, Head, NodeChange, NodeChanged, NodeWrite, Stretch, StretchWrite,
};
pub use damage::DamagedBlock;
pub use engine::Engine;
pub use error::{KvError, LedgerError};
pub use event_value::Glimpse;
pub use kv::{Durability, Family, KeyValue, Pair, Pairs, Span};
pub use ledger::{Ledger, Work};
pub use new_event::{Appended, NewEvent, Outcome};
pub use outbox::OutboxEntry;
pub use range::{Direction, EventRange, Mark, Position};
pub use repair::{Repaired, repair};
pub use store::Store;
