//! The clients against a scripted server and scripted commands, through the public API.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that cannot continue should panic where it failed"
)]

mod anthropic;
mod chat;
mod chat_dialects;
mod chat_stop;
mod command;
mod embeddings;
mod endpoint;
mod key_file;
mod meter;
mod openai;
mod prices;
mod retry;
mod server;
