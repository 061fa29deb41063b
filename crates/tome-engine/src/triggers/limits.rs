//! Every cap of the triggers, with its reason.

/// What a state may take as bytes. A file that is larger was not written by `State::to_bytes`.
pub const STATE_BYTES_MAX: usize = 16 * 1024;

/// Events that are recognised when they come again. Two hooks wired for one agent, or a spool that
/// is read a second time, repeat what has just been.
pub(super) const RECENT_MAX: usize = 64;

/// The text of a plan: enough for recall to know what it is about.
pub(super) const ABOUT_BYTES_MAX: usize = 1_000;

/// One step in it, so that a long first step leaves room for the others.
pub(super) const STEP_BYTES_MAX: usize = 160;

/// Tasks of a list that are told apart. More are only counted: no person reads a list of them.
pub(super) const TASKS_MAX: usize = 64;

/// Of a text (a reply, a plan, a query) so much is read.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

/// Of a prompt so much is read for the person's mood: behind it stand logs and files.
pub(super) const MOOD_BYTES_MAX: usize = 4 * 1024;

/// How far before a numbered list a word may stand that makes it a plan.
pub(super) const LEAD_BYTES_MAX: usize = 400;

/// An agent that works for long without a prompt: so many tool calls are another round.
pub(super) const ROUND_TOOL_CALLS: u32 = 25;

/// No reminder before so many rounds of a session.
pub(super) const ROUNDS_MIN: u32 = 3;

/// No reminder for so many rounds after a write.
pub(super) const ROUNDS_SILENT: u32 = 5;

/// Fewer writes than this say nothing about habits.
pub(super) const WRITES_MIN: u32 = 2;
