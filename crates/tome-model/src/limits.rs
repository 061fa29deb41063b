//! Limits of the model, with their reasons. A limit that only one crate needs is defined there.

/// Default limit of event text, tool input and tool output, each: a 100,000-token tool output fits,
/// a core dump pasted into a prompt does not.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Upper bound of that limit in the config: an event must fit several times into a message on the
/// wire.
pub const TEXT_BYTES_CEILING: usize = 4 * 1024 * 1024;

/// Ids from outside: enough for any UUID, path-like or prefixed id of an agent.
pub const ID_BYTES_MAX: usize = 128;

/// Session ids are part of keys.
pub const SESSION_ID_BYTES_MAX: usize = 256;

/// Agent names are shown in columns.
pub const AGENT_BYTES_MAX: usize = 64;

/// `PATH_MAX`: a longer path cannot be a working directory.
pub const PATH_BYTES_MAX: usize = 4096;

/// Maximum nesting of JSON in an event; deeper values are stored as text. Parsers stop at 128, and
/// an event adds a few levels of its own.
pub const JSON_DEPTH_MAX: usize = 100;

/// All of an event's meta, as JSON text.
pub const META_BYTES_MAX: usize = 64 * 1024;

/// The same words within this time in one session are a duplicate (two hooks installed for one
/// agent); later they are a repetition by the user.
pub const DUPLICATE_WINDOW_MS: u64 = 2_000;
