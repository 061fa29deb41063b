//! `tome`, memory for coding agents.
//!
//! Hooks run at every step of an agent, so they are dispatched first and skip everything that they do not
//! need, such as clap.

mod agents;
mod capture_rules;
mod chat_model;
mod cli;
mod command;
mod config;
mod connect;
mod daemon;
mod event_stream;
mod hook;
mod import;
mod mcp;
mod model_key;
mod platform;
mod setup;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    platform::restrict_new_files();
    platform::survive_file_size_limit();
    // Hook arguments are always UTF-8; clap reports invalid ones.
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    match hook::args::parse_hook_command_line(args.get(1..).unwrap_or_default()) {
        // A model command run by Tome may be an agent with hooks; they must not record Tome's own prompts.
        Some(_) if std::env::var_os("TOME_HOOK_OFF").is_some_and(|off| !off.is_empty()) => {
            ExitCode::SUCCESS
        }
        Some(hook_args) => {
            hook::run(&hook_args, started);
            ExitCode::SUCCESS
        }
        None => command::run(),
    }
}
