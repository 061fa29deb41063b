//! The library through its public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod agent;
mod compaction;
mod context;
mod examples;
mod fixture;
mod memory;
mod paper;
mod properties;
mod reflect;
mod script;
mod tools;
mod triggers;
