//! Tests of periods and ids.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test that meets something unexpected has to fail"
)]

mod ids;
mod periods;
