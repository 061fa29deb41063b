//! When memory speaks up on its own: a state machine over what one session does, without I/O.
//!
//! A *loop* begins with a person's prompt. Three things can become due, one at a time:
//!
//! | due | when | at which events |
//! | --- | --- | --- |
//! | `Replan` | the first plan with more than so many steps in a loop | prompt, tool result |
//! | `Store` | a stop after meaningful work that nobody has stored lessons of | stop |
//! | `Overview` | so many rounds without a write to the session's overview, adaptive | prompt, tool result |
//!
//! What is due belongs into the answer to that very event: these are the events whose hooks take
//! text. A plan that shows where no text can be put (in a reply, in `TaskCreated`, in a failed call)
//! is carried to the next event where it can: the next tool result of the loop, or the next prompt,
//! whose loop it then counts for.
//!
//! What was due and did not get there in time (`State::missed`) is due again, in the same manner.
//!
//! The caller keeps one `State` a session, hands it every event of that session in the order in
//! which they came, subagents' included, and writes `State::to_bytes` where it survives a restart.
//! An event that is seen twice changes nothing the second time, as long as fewer than
//! `RECENT_MAX` others came in between. The state holds words of the plan (at most two kilobytes):
//! make `Seen` of what has been through the redactor.
//!
//! This module knows no text of notes and injects nothing: `texts` has the words of the nudges.

mod deeds;
mod due;
mod frustration;
mod limits;
mod overview;
mod plan;
mod recent;
mod seen;
mod settings;
mod sql;
mod state;
mod steps;
mod tasks;
pub mod texts;
mod words;

pub use due::{Due, Why};
pub use limits::STATE_BYTES_MAX;
pub use seen::Seen;
pub use settings::Settings;
pub use state::State;
