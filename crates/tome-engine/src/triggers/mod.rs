//! Decides when memory speaks up on its own: a state machine over one session's events, without
//! I/O.
//!
//! A turn begins with a user's prompt. Three things can become due, one at a time:
//!
//! | due | when | at which events |
//! | --- | --- | --- |
//! | `Replan` | the first plan in a turn with more than `plan_steps` steps | prompt, tool result |
//! | `Store` | a stop after significant work without stored lessons | stop |
//! | `Overview` | rounds without a write to the session's overview (adaptive) | prompt, tool result |
//!
//! The caller answers that very event with what is due: these are the events whose hooks accept
//! text. A plan that appears where no text is accepted (in a reply, in `TaskCreated`, in a failed
//! call) is carried to the next event that does: the next tool result of the turn, or the next
//! prompt, and then counts for that prompt's turn. Whatever was due and did not arrive in time
//! (`TriggerState::mark_missed`) becomes due again in the same way.
//!
//! The caller keeps one `TriggerState` per session, passes it every event of that session in order
//! of arrival, including subagents', and persists `TriggerState::to_bytes`. A duplicate event has
//! no effect, unless `RECENT_EVENTS_MAX` others came in between. The state contains words of the
//! plan (at most two kilobytes), so events must be redacted first.
//!
//! This module reads no notes and injects nothing; `texts` has the wording.

mod compact_text;
mod dedup;
mod due;
mod frustration;
mod limits;
mod plan;
pub(crate) mod plan_list;
mod reminder;
mod settings;
mod sql;
mod state;
mod steps;
mod tasks;
pub mod texts;
mod tool_calls;
mod trigger_event;

pub use due::{DueInjection, StoreReason};
pub use limits::STATE_BYTES_MAX;
pub use settings::TriggerSettings;
pub use state::TriggerState;
pub use trigger_event::TriggerEvent;
