//! Number of CPU cores that a search may use.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// Cores available to this process. Cached, because finding out reads several files.
pub fn available_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let least = if cfg!(test) { 3 } else { 1 };
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get).max(least))
}
