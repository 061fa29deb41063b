//! The clients against a scripted server and scripted commands, through the public API.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on should say where"
)]

mod anthropic;
mod command;
mod embeddings;
mod endpoint;
mod meter;
mod openai;
mod retry;
mod server;
