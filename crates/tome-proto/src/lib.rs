//! The wire format: messages of `proto/`, conversions to and from the model, and a typed client
//! whose every call has a deadline.
//!
//! Independent of the ledger and the platform: the caller provides the stream.

mod citation;
mod client;
mod contents;
mod convert;
mod error;
mod injection;
pub mod limits;
mod models;
mod notes;
mod recall;

/// The generated messages and services.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::indexing_slicing,
    unused_qualifications
)]
pub mod v1 {
    tonic::include_proto!("tome.v1");

    /// Descriptors of all services, for gRPC reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tome.bin"));
}

pub use client::{Client, EventListPage, EventListQuery};
pub use convert::{
    delivered_from_wire, draft_from_wire, draft_to_wire, event_from_wire, event_to_wire,
};
pub use error::ClientError;
pub use notes::take_fitting;
