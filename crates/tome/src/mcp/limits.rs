//! Limits of the MCP server.

use std::time::Duration;

/// Longest input line; a note that a tool may write is far smaller, even escaped.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Output lines queued for the client; when full, the server waits.
pub const QUEUED_LINES_MAX: usize = 64;

/// Budget for requests in flight, from reading a request to writing its response: a request counts
/// with its bytes, a response with `RESPONSE_KIB`. When it is used up, no further input is read.
pub const IN_FLIGHT_KIB_MAX: u32 = 32 * 1024;

/// Estimated size of a response. Few are larger.
pub const RESPONSE_KIB: u32 = 256;

/// Messages per batch, which an old protocol version allows. Their responses are sent together, so
/// all of them must fit into the budget.
pub const BATCH_MESSAGES_MAX: usize = 64;

/// Concurrent calls to the daemon; further calls wait.
pub const CONCURRENT_CALLS_MAX: usize = 16;

/// Attempts for a read while the daemon is exiting.
pub const READ_ATTEMPTS_MAX: usize = 3;

/// Time for the client to read the last responses after it closed its input.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Resources per page of a list.
pub const PAGE_RESOURCES: usize = 100;

/// Limit for a client's name, which is stored in the history of notes.
pub const CLIENT_NAME_BYTES_MAX: usize = 64;
