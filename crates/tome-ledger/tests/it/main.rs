//! The ledger through its public API: one suite, run with every engine of the build.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that meets something unexpected should fail"
)]

#[macro_use]
mod harness;

mod append;
mod changes;
mod concurrency;
mod contents;
mod damage;
mod deliveries;
mod fault;
mod faulty_store;
mod fixture;
mod model;
mod projection_commits;
mod read;
mod store;
mod torn;
