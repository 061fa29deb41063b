//! Every cap of the model, with its reason. A cap that only one crate needs lives in that crate.

/// Event text, tool input and tool output are each kept up to this many bytes by default: a
/// 100,000-token tool output fits, a core dump pasted into a prompt does not.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Nobody may configure the cap of event text above this: one event has to fit into one message on
/// the wire several times over.
pub const TEXT_BYTES_CEILING: usize = 4 * 1024 * 1024;

/// Ids given from outside: long enough for any uuid, path-like or prefixed id an agent uses.
pub const ID_BYTES_MAX: usize = 128;

/// Session ids are part of keys.
pub const SESSION_ID_BYTES_MAX: usize = 256;

/// Agent names are shown in columns.
pub const AGENT_BYTES_MAX: usize = 64;

/// A path longer than the kernel accepts (`PATH_MAX`) cannot be a working directory.
pub const PATH_BYTES_MAX: usize = 4096;

/// JSON in an event nests at most so deep; deeper values are kept as text. Parsers stop at 128, and
/// an event wraps its values in a few levels of its own.
pub const JSON_DEPTH_MAX: usize = 100;

/// All of an event's meta, as JSON text.
pub const META_BYTES_MAX: usize = 64 * 1024;

/// Two sightings of the same words in one session this close together are one event seen twice
/// (two hooks wired for the same agent); farther apart, the person said it again.
pub const SAME_SIGHTING_MS: u64 = 2_000;
