//! The ledger: an append-only store of events and of data derived from them.
//!
//! An acknowledged event is synced to disk. Events are never changed or deleted. After a failed write,
//! all writes are refused until the ledger is reopened. This is the only crate that names a storage
//! engine; it uses no sockets, no clock, no projects and no agents.
//!
//! The layers, bottom up: a [`KeyValue`] store with two engines, the [`DiskStore`] that locks and
//! describes its directory, and the [`Ledger`] on top.

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

pub use batch::{BatchOp, KvBatch};
pub use contents::{
    GripWrite, NodeChange, NodeChangeEntry, NodeHeader, NodeWrite, SegmentEntry,
    SegmentStartReason, SegmentWrite,
};
pub use damage::DamagedBlock;
pub use engine::Engine;
pub use error::{KvError, LedgerError};
pub use event_value::EventRef;
pub use kv::{Durability, Family, KeyRange, KeyValue, KvPair, KvPairs};
pub use ledger::{Ledger, WorkerCommit};
pub use new_event::{AppendOutcome, AppendedEvent, NewEvent};
pub use outbox::OutboxEntry;
pub use range::{EventPosition, EventRange, OrderKey, ScanDirection};
pub use repair::{RepairReport, repair};
pub use store::DiskStore;
pub use store_file::disk_bytes;
