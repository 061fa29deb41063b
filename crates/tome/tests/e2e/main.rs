//! End-to-end tests of the real coding agents, set up with `tome setup` and driven by a scripted
//! model on loopback: hooks fire, events are stored, the model sees injections, the MCP server
//! answers, and the request to store comes exactly once.
//!
//! The agents are large and not part of this repository, so every test is ignored by default and
//! fails if its agent is missing. CONTRIBUTING.md has the commands.

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

mod agent_fixture;
mod claude_code;
mod clients;
mod codex;
mod copilot;
mod gemini;
mod headless;
mod model;
mod opencode;
mod scenario;
