//! The tools, called as the interfaces call them.

mod anthropic;
mod arguments;
mod bad_input;
mod coder;
pub mod fixture;
mod notes;
mod recall;
mod redaction;
mod session_page;
