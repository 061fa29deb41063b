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
mod commit;
mod contents;
mod counts;
mod cursor_value;
mod damage;
mod dedup;
mod delivery;
mod engines;
mod error;
mod event_value;
mod family;
mod key;
mod kv;
mod ledger;
mod limits;
mod new_event;
mod outbox;
mod position;
mod queue;
mod range;
mod repair;
mod resolve;
mod storage_engine;
mod store;
mod store_file;
mod store_swap;
mod verify;
mod writer;

pub use batch::{BatchOp, KvBatch};
pub use commit::ProjectionCommit;
pub use contents::{
    GripWrite, NodeChange, NodeChangeEntry, NodeHeader, NodeWrite, SegmentEntry,
    SegmentStartReason, SegmentWrite, TurnEntry,
};
pub use damage::DamagedBlock;
pub use dedup::DedupEntry;
pub use error::{KvError, LedgerError};
pub use event_value::EventRef;
pub use family::Family;
pub use kv::{Durability, KeyRange, KeyValue, KvPair, KvPairs, ScanDirection};
pub use ledger::Ledger;
pub use new_event::{AppendOutcome, AppendedEvent, NewEvent};
pub use outbox::OutboxEntry;
pub use position::{EventPosition, OrderKey};
pub use range::EventRange;
pub use repair::{RepairReport, repair};
pub use storage_engine::StorageEngine;
pub use store::DiskStore;
pub use store_file::disk_bytes;
