//! Which events are prompts of the user.

use tome_model::{Event, EventKind, Role};

/// Whether an event is a prompt of the user, which begins a turn.
pub fn is_prompt(event: &Event) -> bool {
    event.kind == EventKind::UserMessage
        && event.role == Role::User
        && !is_harness_message(&event.text)
}

/// Whether the agent's harness wrote a message in the user's name.
pub(crate) fn is_harness_message(text: &str) -> bool {
    const BEGINNINGS: [&str; 4] = [
        "[Request interrupted",
        "This session is being continued from a previous conversation",
        "Caveat: The messages below were generated",
        "# AGENTS.md instructions",
    ];
    BEGINNINGS.iter().any(|start| text.trim_start().starts_with(start))
}
