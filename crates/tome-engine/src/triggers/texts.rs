//! The wording of the trigger texts, and their recognition when they come back: some agents pass the
//! reason of a stop hook on as if the user had typed it.
//!
//! Phrased as facts and requests, because agents are trained to distrust orders from hooks. The
//! caller adds the injection marks (`tome_model::INJECTION_OPEN`).

use tome_model::strip_injections;

use super::{DueInjection, StoreReason};

/// Follows the recalled lessons.
pub const REPLAN: &str = "With recalled memory, please replan if needed";

/// The note in the coder's notebook on what is worth storing.
pub const STORE_GUIDE: &str = "memory-store-guide.md";

/// Opening of the request to store, by which it is recognized.
const STORE_OPENING: &str = "Tome, the memory of this session:";
/// Opening of the overview reminder, by which it is recognized.
const OVERVIEW_OPENING: &str = "Tome, about the overview of this session:";

/// Renders the text for `due`. For a plan this is the part after the recalled lessons.
pub fn render_due(due: &DueInjection) -> String {
    match due {
        DueInjection::Replan { .. } => format!("{REPLAN}."),
        DueInjection::Store { why, frustrated } => render_store_request(*why, *frustrated),
        DueInjection::Overview { rounds } => render_overview_reminder(*rounds),
    }
}

fn render_store_request(why: StoreReason, frustrated: bool) -> String {
    let what = match why {
        StoreReason::Plan => "work on a longer plan has stopped".to_owned(),
        StoreReason::Work { tool_calls } => {
            format!("{tool_calls} tool calls were made and files changed")
        }
        StoreReason::Frustration => "work has stopped".to_owned(),
    };
    let mood = if frustrated {
        " The user was frustrated along the way: what went wrong is a strong signal and worth \
                 storing as a failure (tags #failure #strong-signal)."
    } else {
        ""
    };
    format!(
        "{STORE_OPENING} {what}, and no lessons from this work are saved yet.{mood} If you learned something \
         that the next session needs, please save it with memory_append or memory_write; save a \
         lesson that applies to any project with coder_memory_store (in a shell: `tome coder \
         store`). The store guide explains what is worth keeping (memory_read, scope coder, {STORE_GUIDE}): \
         usually nothing or one entry, never routine work. If there is nothing to save, no reply is needed."
    )
}

fn render_overview_reminder(rounds: u32) -> String {
    format!(
        "{OVERVIEW_OPENING} it has not changed for {rounds} rounds. The next context starts from it: the \
         current task, key decisions, known context, pending issues. If any of these changed, \
         please update it (memory_write, scope session, overview.md). This reminder is from \
         Tome, not from the user."
    )
}

/// Whether a prompt consists only of Tome's own words, marked or not.
pub fn is_own_text(prompt: &str) -> bool {
    // Prefixes that agents add to the reason of a stop hook.
    const WRAPPINGS: [&str; 2] = ["Stop hook feedback:", "<hook_prompt"];
    let left = strip_injections(prompt);
    let marked = left.len() != prompt.len();
    let left = left.trim();
    marked && (left.is_empty() || WRAPPINGS.iter().any(|mark| left.starts_with(mark)))
        || [REPLAN, STORE_OPENING, OVERVIEW_OPENING].iter().any(|opening| left.starts_with(opening))
}
