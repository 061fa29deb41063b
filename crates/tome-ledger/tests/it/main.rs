//! The ledger through its public API: one suite, run on every engine that was built.

#[macro_use]
mod scene;

mod append;
mod read;
mod worker;
