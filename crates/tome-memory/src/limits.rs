//! Limits of a memory, each with its reason.

/// Bytes of events read back when a session is resumed, because tool results can be huge.
pub const RESUMED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Events per page when a session is read back.
pub const PAGE_EVENTS_MAX: usize = 1_000;
