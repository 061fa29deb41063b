//! Limits of the wire.

use std::time::Duration;

/// The largest message: an event with text, tool input and tool output at their limits, each
/// escaped as JSON in the worst case, with space to spare.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A page of events ends at this size, whatever its limit.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Largest page of events.
pub const PAGE_EVENTS_MAX: u32 = 10_000;

/// Default page of events.
pub const PAGE_EVENTS_DEFAULT: u32 = 100;

/// Largest batch of a bulk stream.
pub const BATCH_EVENTS_MAX: usize = 1_000;

/// A batch of a bulk stream ends at this size.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// Unacknowledged batches in a bulk stream.
pub const BATCHES_IN_FLIGHT_MAX: usize = 4;

/// Largest number of history entries in one response.
pub const LOG_VERSIONS_MAX: u32 = 100_000;

/// Default number of history entries.
pub const LOG_VERSIONS_DEFAULT: u32 = 1_000;

/// The largest message about notes: a note written by hand can be larger than tools allow, and is
/// escaped as JSON in the worst case.
pub const NOTE_MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Timeout of notebook calls. Another process may hold the lock for a while, and scanning a large
/// folder takes time.
pub const NOTE_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of ordinary calls.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of calls that rewrite stores or count everything.
pub const LONG_CALL_TIMEOUT: Duration = Duration::from_secs(600);

/// Timeout of verification and repair, which read the whole history.
pub const REBUILD_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Default number of nodes on a page of the contents, and below one node.
pub const PAGE_NODES_DEFAULT: u32 = 100;

/// Largest number of nodes.
pub const PAGE_NODES_MAX: u32 = 1_000;

/// Default number of events on either side of a grip.
pub const GRIP_EVENTS_DEFAULT: u32 = 3;

/// Largest number of events.
pub const GRIP_EVENTS_MAX: u32 = 50;

/// Longest query of recall.
pub const RECALL_QUERY_BYTES_MAX: usize = 1024 * 1024;

/// The largest message of recall: the longest query, or the most hits with snippets, with space to
/// spare.
pub const RECALL_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Default number of hits.
pub const RECALL_HITS_DEFAULT: u32 = 5;

/// Largest number of hits.
pub const RECALL_HITS_MAX: u32 = 50;

/// Largest number of hits that can be skipped.
pub const RECALL_SKIP_MAX: u32 = 1_000;

/// Timeout of recall: without an index it scans everything.
pub const RECALL_TIMEOUT: Duration = Duration::from_secs(60);
