//! Runs this program again in a home of its own, for the demo and the benchmark.

use std::path::Path;
use std::process::Command;

/// Builds a command that runs `program`, this program, without the user's `TOME_*` variables.
pub fn build_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("TOME_")) {
            command.env_remove(name);
        }
    }
    command
}
