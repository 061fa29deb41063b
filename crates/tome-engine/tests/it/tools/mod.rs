//! The tools, called as a face calls them.

mod anthropic;
mod arguments;
mod bad_input;
mod coder;
mod notes;
mod redaction;
pub mod scene;
