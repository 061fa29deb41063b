//! `tome`, the memory of coding agents.
//!
//! A hook is run at every step of an agent, so it is told apart first and pays for nothing that it
//! does not need: no command tree, no threads, no daemon's runtime.

mod agents;
mod bulk;
mod chat;
mod cli;
mod command;
mod config;
mod daemon;
mod endpoint;
mod hook;
mod import;
mod mcp;
mod model;
mod model_key;
mod platform;
mod reach;
mod render;
mod setup;
mod terminal;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    platform::restrict_new_files();
    platform::survive_file_size_limit();
    // Bytes that are not UTF-8 cannot be meant for a hook; the command line reports them.
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    match hook::args::read(args.get(1..).unwrap_or_default()) {
        // A model that Tome itself asks may be an agent with hooks of its own.
        Some(_) if std::env::var_os("TOME_HOOK_OFF").is_some_and(|off| !off.is_empty()) => {
            ExitCode::SUCCESS
        }
        Some(called) => {
            hook::run(&called, started);
            ExitCode::SUCCESS
        }
        None => command::run(),
    }
}
