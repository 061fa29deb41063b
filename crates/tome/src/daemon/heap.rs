//! Bounds the memory that glibc's allocator keeps for itself.
//!
//! By default every thread gets an arena of its own, and what is freed in the middle of an arena does
//! not go back to the system: after an import of 20 MB the daemon held 180 MB, of which 20 MB were in
//! use. One arena with a fixed trim threshold holds 60 MB, and threads still have their own caches of
//! small blocks (docs/performance.md has the figures).
//!
//! glibc reads these settings once, when a process starts, and only unsafe code could change them
//! later. So clients start the daemon with them, and a daemon started by hand replaces itself once.

use std::process::Command;

use crate::platform;

/// glibc's settings as environment variables. A value that is set already stays.
const SETTINGS: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Adds the settings to the command that starts a daemon.
pub fn bound(command: &mut Command) {
    command.envs(missing());
}

/// Replaces this process by itself with the settings in its environment, unless they are there.
pub fn restart_bounded() {
    let Ok(program) = std::env::current_exe() else { return };
    if missing().next().is_some() {
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        bound(&mut command);
        // Where this fails, the daemon runs without the bound.
        platform::replace_process(&mut command);
    }
}

fn missing() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none())
}
