//! Claude Code's answers: context only inside `hookSpecificOutput`, with the event's own name. At a
//! stop, a block with a reason makes it go on; its payload then says `stop_hook_active`.

use serde_json::{Value, json};

use crate::agents::answer::Moment;

/// More than 10,000 characters are put into a file, of which the model sees the beginning.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

/// The answer that carries a text.
pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    let event = match moment {
        Moment::Start => "SessionStart",
        Moment::Prompt => "UserPromptSubmit",
        Moment::Tool { failed: false } => "PostToolUse",
        Moment::Tool { failed: true } => "PostToolUseFailure",
        Moment::Stop => return Some(json!({"decision": "block", "reason": text})),
        Moment::Compaction => return None,
    };
    Some(context(event, text))
}

/// Context for the model, as Claude Code, Codex and Gemini CLI take it.
pub(in crate::agents) fn context(event: &str, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
}
