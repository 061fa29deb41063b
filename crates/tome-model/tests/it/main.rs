//! Tests of periods, ids and time phrases.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test that meets something unexpected has to fail"
)]

mod ids;
mod periods;
mod phrases;
mod questions;
