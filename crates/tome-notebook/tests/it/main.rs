//! The notebook through its public API, on real folders.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that meets something unexpected has to fail"
)]

mod basics;
mod damage;
mod processes;
mod random;
mod review;
mod sandbox;
mod world;
