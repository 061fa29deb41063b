//! The tools, called as the interfaces call them.

mod anthropic;
mod arguments;
mod bad_input;
mod coder;
mod contents;
pub mod fixture;
mod frontmatter;
mod notes;
mod recall;
mod recall_results;
mod redaction;
mod session_page;
