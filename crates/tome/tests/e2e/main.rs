//! The real coding agents, wired by `tome setup` and driven from beginning to end by a scripted model
//! on loopback: do hooks fire, are events stored, does the model see what was injected, does it get
//! an answer from the MCP server, and is it asked to store exactly once?
//!
//! The agents are large and not ours, so every test here is ignored unless it is asked for, and then
//! fails where its agent is missing. CONTRIBUTING.md has the commands and what was seen.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests assert by panicking, print why they skip, and write plain files"
)]

mod claude_code;
mod clients;
mod codex;
mod copilot;
mod gemini;
mod headless;
mod model;
mod opencode;
mod stage;
mod story;
