//! The caps of the wire.

use std::time::Duration;

/// The largest message either side takes: one event at the ceiling of its text, tool input and tool
/// output, each escaped as JSON at worst, with room to spare.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A page of events is closed once it holds this much, whatever its limit.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The most events on one page.
pub const PAGE_EVENTS_MAX: u32 = 10_000;

/// The events on a page when the asker does not say.
pub const PAGE_EVENTS_DEFAULT: u32 = 100;

/// The most events in one batch of a bulk stream.
pub const BATCH_EVENTS_MAX: usize = 1_000;

/// A batch of a bulk stream is closed once it holds this much text.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// Batches that a bulk stream may have on their way without an answer.
pub const BATCHES_IN_FLIGHT_MAX: usize = 4;

/// The most lines of a notebook's history in one answer.
pub const LOG_VERSIONS_MAX: u32 = 100_000;

/// The lines of a notebook's history when the asker does not say.
pub const LOG_VERSIONS_DEFAULT: u32 = 1_000;

/// The largest message about notes: a note that somebody wrote by hand can be larger than what a
/// tool may write, and is escaped as JSON at worst.
pub const NOTE_MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How long a client waits for the notebook. Another process may hold its lock for a while, and a
/// large folder takes time to look at.
pub const NOTE_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a client waits for an ordinary answer.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client waits for work that rewrites stores, or that counts everything.
pub const LONG_CALL_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a client waits until all contents are checked: they are as large as the history.
pub const REBUILD_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The nodes on a page of the contents, and below one node, when the asker does not say.
pub const PAGE_NODES_DEFAULT: u32 = 100;

/// The most of them.
pub const PAGE_NODES_MAX: u32 = 1_000;

/// Events shown on either side of a grip when the asker does not say.
pub const GRIP_EVENTS_DEFAULT: u32 = 3;

/// The most of them.
pub const GRIP_EVENTS_MAX: u32 = 50;

/// The longest query that recall takes. What is longer is no question.
pub const RECALL_QUERY_BYTES_MAX: usize = 1024 * 1024;

/// The largest message of recall: the longest query, or the most hits with a snippet each, with room
/// to spare.
pub const RECALL_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The hits of one answer when the asker does not say.
pub const RECALL_HITS_DEFAULT: u32 = 5;

/// The most of them.
pub const RECALL_HITS_MAX: u32 = 50;

/// How long a client waits for recall: without any index it looks through everything.
pub const RECALL_TIMEOUT: Duration = Duration::from_secs(60);
