//! Topics of made-up repositories.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failing test should panic at the cause"
)]

mod decisions;
mod generated;
mod growth;
mod pages;
