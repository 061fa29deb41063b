//! Bounds the memory that glibc's allocator keeps for itself.
//!
//! By default every thread has its own arena, and glibc does not return memory freed in the middle
//! of an arena: after an import of 20 MB the daemon held 180 MB with 20 MB in use. One arena with a
//! fixed trim threshold holds 60 MB, and threads keep their caches of small blocks (figures in
//! docs/performance.md).
//!
//! glibc reads these settings once, when a process starts, and only unsafe code could change them
//! later. So clients start the daemon with them, and a daemon started by hand re-executes itself
//! once.

use std::process::Command;

use crate::platform;

/// glibc's settings as environment variables. A variable that is already set is kept.
const SETTINGS: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Re-executes this process with the settings in its environment, unless they are already set.
pub fn restart_bounded() {
    let Ok(program) = std::env::current_exe() else { return };
    if missing().next().is_some() {
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        command.envs(missing());
        // If this fails, the daemon runs without the limit.
        platform::replace_process(&mut command);
    }
}

/// The settings that are not in the environment of this process.
pub fn missing() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none())
}
