//! Settings of the allocator in the daemon.
//!
//! The program allocates with jemalloc, which returns freed memory to the system. A daemon waits more than it
//! computes, so it gets few arenas, small caches per thread, and a thread that returns memory even when nothing
//! is allocated any more. Hooks do without that thread: it takes longer to start than they take to run. Figures are
//! in docs/performance.md.
//!
//! jemalloc reads its settings once, when a process starts. So clients start the daemon with them, and a
//! daemon started by hand re-executes itself once.

use std::process::Command;

use crate::platform;

/// jemalloc's settings, as an environment variable. One that is already set is kept.
const SETTINGS: (&str, &str) =
    ("_RJEM_MALLOC_CONF", "background_thread:true,narenas:4,lg_tcache_max:8");

/// Re-executes this process with the settings in its environment, unless they are already set.
pub fn restart_with_settings() {
    let Ok(program) = std::env::current_exe() else { return };
    if let Some((name, value)) = missing() {
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        command.env(name, value);
        // If this fails, the daemon runs with the allocator's defaults.
        platform::replace_process(&mut command);
    }
}

/// The settings, unless they are in the environment of this process.
pub fn missing() -> Option<(&'static str, &'static str)> {
    Some(SETTINGS).filter(|(name, _)| std::env::var_os(name).is_none())
}
