//! The ledger through its public API: one suite, run with every engine of the build.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that meets something unexpected should fail"
)]

#[macro_use]
mod scene;

mod append;
mod changes;
mod contents;
mod crowd;
mod damage;
mod deliveries;
mod fault;
mod fixture;
mod model;
mod read;
mod store;
mod torn;
mod worker;
mod wrapped;
