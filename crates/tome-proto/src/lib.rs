//! The wire format: messages of `proto/`, conversions to and from the model, and a typed client
//! whose every call has a deadline.
//!
//! Independent of the ledger and the platform: the caller provides the stream.

mod backup;
mod citation;
mod client;
mod contents;
mod convert;
mod error;
mod injection;
pub mod limits;
mod models;
mod notebook;
mod projects;
mod recall;
mod reflect;
mod tools;
mod topics;

/// The messages and services, generated from `proto/`; `tests/generated.rs` regenerates them.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::indexing_slicing,
    unused_qualifications
)]
pub mod v1 {
    include!("generated/tome.v1.rs");

    /// Descriptors of all services, for gRPC reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
}

pub use client::{Client, EventListPage, EventListQuery};
pub use convert::{
    delivered_from_wire, draft_from_wire, draft_to_wire, event_from_wire, event_to_wire,
};
pub use error::ClientError;
pub use notebook::take_fitting;
