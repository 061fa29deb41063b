//! The tools, called as the interfaces call them.

mod anthropic;
mod arguments;
mod bad_input;
mod coder;
mod notes;
mod redaction;
pub mod scene;
mod session_page;
