//! Claude Code's responses: context goes inside `hookSpecificOutput`, together with the event's
//! name. At a stop, a block with a reason makes it continue; its next stop payload has
//! `stop_hook_active`.

use serde_json::{Value, json};

use crate::agents::injection_point::InjectionPoint;

/// Claude Code moves text over 10,000 characters into a file and shows the model only its
/// beginning.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn build_response(point: InjectionPoint, text: &str) -> Option<Value> {
    let event = match point {
        InjectionPoint::Start => "SessionStart",
        InjectionPoint::Prompt => "UserPromptSubmit",
        // Without a permission decision: the tool call takes its usual course.
        InjectionPoint::BeforeEdit => "PreToolUse",
        InjectionPoint::Subagent => "SubagentStart",
        InjectionPoint::Tool { failed: false } => "PostToolUse",
        InjectionPoint::Tool { failed: true } => "PostToolUseFailure",
        InjectionPoint::Stop => return Some(json!({"decision": "block", "reason": text})),
        InjectionPoint::Compaction => return None,
    };
    Some(additional_context(event, text))
}

/// Additional context in the shape shared by Claude Code, Codex and Gemini CLI.
pub(in crate::agents) fn additional_context(event: &str, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
}
