//! The wire: the messages of `proto/`, their way to and from the model, and a typed client whose
//! every call has a deadline.
//!
//! This crate knows no ledger and no platform: whoever uses it brings the stream to speak over.

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

    /// The descriptors of all services, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tome.bin"));
}

pub use client::{Client, Page, Query};
pub use convert::{
    delivered_from_wire, draft_from_wire, draft_to_wire, event_from_wire, event_to_wire,
};
pub use error::ClientError;
pub use notes::fitting;
