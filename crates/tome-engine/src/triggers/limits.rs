//! Limits of the triggers, with their reasons.

/// Size of a serialized state. A larger file was not written by `TriggerState::to_bytes`.
pub const STATE_BYTES_MAX: usize = 16 * 1024;

/// Events remembered for deduplication. Two hooks installed for one agent, or a spool that is read
/// twice, repeat recent events.
pub(super) const RECENT_EVENTS_MAX: usize = 64;

/// Text of a plan: enough for recall to find related lessons.
pub(super) const PLAN_TEXT_BYTES_MAX: usize = 1_000;

/// Text of one step of a plan, so that a long first step leaves space for the others.
pub(super) const STEP_BYTES_MAX: usize = 160;

/// Tasks tracked individually. More are only counted, since no person reads such a list.
pub(super) const TASKS_MAX: usize = 64;

/// Bytes parsed of a reply, a plan or a query.
pub(super) const PARSED_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a prompt checked for frustration: beyond that are pasted logs and files.
pub(super) const FRUSTRATION_BYTES_MAX: usize = 4 * 1024;

/// Maximum distance between a numbered list and the cue before it that marks it as a plan.
pub(super) const LEAD_BYTES_MAX: usize = 400;

/// Tool calls after which a long turn counts as another round.
pub(super) const LONG_TURN_TOOL_CALLS: u32 = 25;

/// Rounds at the start of a session without a reminder.
pub(super) const ROUNDS_MIN: u32 = 3;

/// Rounds after a write without a reminder.
pub(super) const ROUNDS_SILENT: u32 = 5;

/// Writes needed before the pace adapts.
pub(super) const WRITES_MIN: u32 = 2;
