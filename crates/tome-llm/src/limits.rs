//! Every cap of the clients, with its reason.

use std::time::Duration;

/// A response is read up to so many bytes: an answer of some thousand tokens has some ten thousand.
pub const RESPONSE_BYTES_MAX: u64 = 1024 * 1024;

/// A command's answer, likewise.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// The end of a command's stderr is kept for its failure.
pub const STDERR_BYTES_MAX: usize = 4 * 1024;

/// What a server or a command said goes into failures and logs up to here.
pub const SAID_BYTES_MAX: usize = 300;

/// Connecting takes no longer, whatever the answer may take.
pub const CONNECT_MAX: Duration = Duration::from_secs(10);

/// A caller waits for the next try no longer than this; who asks for more is asked another time.
pub const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Nobody is asked more often than this for one answer.
pub const ATTEMPTS_MAX: u32 = 10;

/// How often a running command's caller looks whether it is to stop.
pub const STOP_LOOK: Duration = Duration::from_millis(100);

/// What a command's children may still hold of its output is not waited for longer than this.
pub const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// A text is embedded up to here: most endpoints take 8,192 tokens, and refuse what is longer.
pub const EMBEDDED_BYTES_MAX: usize = 16_000;

/// So many texts are embedded in one call at most; fewer, if their vectors would not fit into a response.
pub const EMBEDDED_TEXTS_MAX: u64 = 64;

/// A number of a vector takes up to so many bytes in a response.
pub const EMBEDDED_NUMBER_BYTES: u64 = 28;

/// A reply that streams takes no longer, however busily it comes: 64,000 tokens at 40 a second.
pub const STREAM_TIME_MAX: Duration = Duration::from_secs(30 * 60);

/// Bytes of a stream: every token comes in an envelope of some hundred bytes.
pub const STREAM_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One event of a stream; some endpoints send all arguments of a call in one.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// What is kept of a reply: ten times what the longest of models say.
pub const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Texts and calls of one reply.
pub const REPLY_PARTS_MAX: usize = 256;

/// The body of an error is read up to here.
pub const ERROR_BYTES_MAX: u64 = 64 * 1024;

/// How often somebody who waits for a stream looks whether they are to stop.
pub const STREAM_LOOK: Duration = Duration::from_millis(50);

/// The end of a response is waited for so long once its reply is over, to use the connection again.
pub const LAST_CHUNK_MAX: Duration = Duration::from_millis(20);

/// Connections kept for the next stream.
pub const SPARE_AGENTS_MAX: usize = 4;

/// Tokens set aside and not settled are let go after this: no call takes longer.
pub const RESERVED_MAX: Duration = Duration::from_secs(31 * 60);

/// A key file is read up to here.
pub const KEY_FILE_BYTES_MAX: u64 = 4 * 1024;
