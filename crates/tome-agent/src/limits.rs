//! Limits of the agent library, each with its reason.

/// Estimated overhead of a message, or of one part of a message, beyond its text.
pub const PART_OVERHEAD_TOKENS: u64 = 6;

/// Minimum tokens that must remain for the conversation; with less, no useful exchange fits.
pub const TURN_TOKENS_MIN: u64 = 600;

/// Maximum number of times a request that exceeds the model's context is shortened and sent again.
pub const SHORTENING_RETRIES_MAX: u32 = 3;

/// Length of the current prompt when the head repeats it because its message has left the window.
pub const TASK_TOKENS_MAX: u64 = 400;

/// Length of the latest compaction's summary in the head.
pub const SUMMARY_TOKENS_MAX: u64 = 500;

/// Bytes of one text kept for summarizing; a summary needs no more of a tool's output.
pub const SUMMARIZED_TEXT_BYTES_MAX: usize = 16 * 1024;

/// Prompts listed in a compaction note.
pub const LISTED_PROMPTS_MAX: usize = 60;
/// Characters of each listed prompt.
pub const LISTED_PROMPT_CHARS_MAX: usize = 240;

/// Events read back when a session is resumed: more than any context window holds.
pub const RESUMED_EVENTS_MAX: usize = 2_000;
