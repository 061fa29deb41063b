//! The engine through its public surface.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say where"
)]

mod intake;
mod notebooks;
mod reading;
mod recall_races;
mod session_copy;
mod spool;
mod tools;
mod triggers;
