//! The ledger through its public API: one suite, run on every engine that was built.

#[macro_use]
mod scene;

mod append;
mod crowd;
mod fault;
mod fixture;
mod model;
mod read;
mod store;
mod worker;
mod wrapped;
