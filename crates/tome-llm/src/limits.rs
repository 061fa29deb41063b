//! Limits of the clients, each with its reason.

use std::time::Duration;

/// Maximum size of a response. An answer of some thousand tokens has some ten thousand bytes.
pub const RESPONSE_BYTES_MAX: u64 = 1024 * 1024;

/// Maximum size of a command's output.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// Length of the tail of a command's stderr that is kept for error messages.
pub const STDERR_BYTES_MAX: usize = 4 * 1024;

/// Maximum length of a server's or command's message in failures and logs.
pub const MESSAGE_BYTES_MAX: usize = 300;

/// Maximum time to connect, whatever the timeout of the call.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait before a retry. If the endpoint asks for more, the call fails instead.
pub const BACKOFF_MAX: Duration = Duration::from_secs(60);

/// Maximum attempts per call.
pub const ATTEMPTS_MAX: u32 = 10;

/// How often the caller of a running command checks for cancellation.
pub const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait for output that a command's children still hold after it has exited.
pub const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// Maximum bytes of a text to embed: most endpoints reject more than 8,192 tokens.
pub const EMBEDDED_BYTES_MAX: usize = 16_000;

/// Maximum texts per embeddings request; fewer if their vectors would not fit into a response.
pub const EMBEDDED_TEXTS_MAX: u64 = 64;

/// Estimated maximum bytes of one vector component in a response.
pub const EMBEDDED_NUMBER_BYTES: u64 = 28;

/// Maximum duration of a streamed reply: 64,000 tokens at about 40 per second.
pub const STREAM_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Maximum bytes of a stream: every token has an envelope of about a hundred bytes.
pub const STREAM_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Maximum bytes of one server-sent event; some endpoints send all arguments of a call in one.
pub const SSE_EVENT_BYTES_MAX: usize = 1024 * 1024;

/// Maximum bytes of a reply: ten times the longest output of current models.
pub const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum text parts and tool calls of one reply.
pub const REPLY_PARTS_MAX: usize = 256;

/// Maximum bytes read of an error response.
pub const ERROR_BYTES_MAX: u64 = 64 * 1024;

/// How often the reader of a stream checks for cancellation.
pub const STREAM_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for the end of a response after its reply is complete, to reuse the connection.
pub const LAST_CHUNK_TIMEOUT: Duration = Duration::from_millis(20);

/// Idle connections kept for later streams.
pub const IDLE_AGENTS_MAX: usize = 4;

/// When an unsettled reservation expires: no call takes longer.
pub const RESERVATION_TTL: Duration = Duration::from_secs(31 * 60);

/// Maximum bytes read of a key file.
pub const KEY_FILE_BYTES_MAX: u64 = 4 * 1024;
