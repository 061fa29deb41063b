//! How many cores a search may use.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// How many cores there are for this process. Asked once: the system reads several files to say it.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let least = if cfg!(test) { 3 } else { 1 };
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get).max(least))
}
