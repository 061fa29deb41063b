//! Every cap of the agent library, with its reason.

/// What a message or a part of one costs beside its words.
pub const PART_TOKENS: u64 = 6;

/// The least room that must be left for the conversation itself; with less nothing sensible is said.
pub const ROOM_TOKENS_MIN: u64 = 600;

/// How often a request that the model finds too long is made shorter and sent again.
pub const SHORTER_TRIES_MAX: u32 = 3;

/// The plan of the person, repeated at the head where its own message has left the window.
pub const TASK_TOKENS_MAX: u64 = 400;

/// The summary of the latest compaction, repeated at the head.
pub const SUMMARY_TOKENS_MAX: u64 = 500;

/// What is kept of one text for summarizing it: a summary needs no more of a tool's output.
pub const SUMMARIZED_BYTES_MAX: usize = 16 * 1024;

/// Turns listed in a compaction's file, and what is shown of each.
pub const LISTED_TURNS_MAX: usize = 60;
/// Characters of a listed turn.
pub const LISTED_CHARS_MAX: usize = 240;

/// Events that are read back when a session is resumed: more than any window holds.
pub const RESUMED_EVENTS_MAX: usize = 2_000;
/// Bytes of theirs: a session of huge results must not fill the memory of whoever takes it up.
pub const RESUMED_BYTES_MAX: usize = 32 * 1024 * 1024;
