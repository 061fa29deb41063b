//! The caps of the MCP server.

use std::time::Duration;

/// The longest line that is read; a note that a tool may write is far smaller, escaped or not.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Lines that wait until the client reads them; more make the server wait.
pub const LINES_WAITING_MAX: usize = 64;

/// Requests in flight, from the moment a request is read until its answer is written: its line counts
/// with its bytes, its answer with [`ANSWER_KIB`]. A client that does not read its answers is not
/// listened to any longer once this is used up.
pub const IN_FLIGHT_KIB_MAX: u32 = 32 * 1024;

/// Room for the answer to a request. Few are larger.
pub const ANSWER_KIB: u32 = 256;

/// Messages on one line, which an old version of the protocol allows. Their answers go out together,
/// so all of them have to fit into what may be in flight.
pub const BATCH_MESSAGES_MAX: usize = 64;

/// Calls to the daemon that are on their way at once; others wait for their turn.
pub const CALLS_AT_ONCE: usize = 16;

/// How often a question is asked of a daemon that leaves just then.
pub const ASKED_MAX: usize = 3;

/// How long the last answers may take to be read once the client has said its last.
pub const FAREWELL: Duration = Duration::from_secs(5);

/// Resources on one page of a list.
pub const PAGE_RESOURCES: usize = 100;

/// What a client's name may be long; it ends up in the notes' history.
pub const CLIENT_NAME_BYTES_MAX: usize = 64;
