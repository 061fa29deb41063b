//! Tests of the notebook through its public API, on real folders.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests should panic on unexpected results"
)]

mod basics;
mod damage;
mod fixture;
mod processes;
mod random;
mod review;
mod sandbox;
