//! The words of the nudges, and how they are recognised when they come back: some agents hand the
//! reason of a stop hook on as if the person had typed it.
//!
//! Phrased as facts and requests, not as orders: agents are trained to distrust orders from hooks.
//! Whoever injects them puts them between the marks of all injections (`tome_model::INJECTION_OPEN`).

use tome_model::strip_injections;

use super::{Due, Why};

/// What follows the recalled insights.
pub const REPLAN: &str = "With recalled memory, please replan if needed";

/// Where the coder's notebook says what is worth storing.
pub const STORE_GUIDE: &str = "memory-store-guide.md";

/// How the request to store begins.
const STORE: &str = "Tome, the memory of this session:";
/// How the reminder of the overview begins.
const OVERVIEW: &str = "Tome, about the overview of this session:";

/// The text for what is due. For a plan it is what stands behind the recalled insights.
pub fn of(due: &Due) -> String {
    match due {
        Due::Replan { .. } => format!("{REPLAN}."),
        Due::Store { why, frustrated } => store(*why, *frustrated),
        Due::Overview { rounds } => overview(*rounds),
    }
}

fn store(why: Why, frustrated: bool) -> String {
    let what = match why {
        Why::Plan => "the work on a longer plan has come to a stop".to_owned(),
        Why::Work { tool_calls } => format!("{tool_calls} tool calls with changes have been made"),
        Why::Frustration => "work has come to a stop".to_owned(),
    };
    let mood = match frustrated {
        true => {
            " The person was frustrated on the way: what went wrong is a strong signal, worth \
                 storing as a failure (tags #failure #strong-signal)."
        }
        false => "",
    };
    format!(
        "{STORE} {what}, and nothing learned from it is saved yet.{mood} If something was learned that \
         the next session needs, please save it with memory_append or memory_write; a lesson that \
         holds in any project with coder_memory_store (in a shell: `tome coder store`). The store \
         guide says what is worth keeping (memory_read, scope coder, {STORE_GUIDE}): usually \
         nothing or one entry, never routine work. If there is nothing, no reply is needed."
    )
}

fn overview(rounds: u32) -> String {
    format!(
        "{OVERVIEW} it has not changed for {rounds} rounds. It is what the next context begins with: \
         the current task, key decisions, known context, pending issues. If these have changed, \
         please update it (memory_write, scope session, overview.md). This is a note of Tome's, \
         not of the person."
    )
}

/// Whether a prompt is nothing but Tome's own words, marked or not.
pub fn is_own(prompt: &str) -> bool {
    // What agents put around the reason of a stop hook.
    const WRAPPINGS: [&str; 2] = ["Stop hook feedback:", "<hook_prompt"];
    let left = strip_injections(prompt);
    let marked = left.len() != prompt.len();
    let left = left.trim();
    marked && (left.is_empty() || WRAPPINGS.iter().any(|mark| left.starts_with(mark)))
        || [REPLAN, STORE, OVERVIEW].iter().any(|opening| left.starts_with(opening))
}
