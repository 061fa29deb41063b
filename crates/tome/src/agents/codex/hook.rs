//! Codex hook payloads: Claude Code's format, with `turn_id` and `model` in every event, which stay
//! in the meta. `tool_response` is a string or the full result of an MCP tool.

use tome_model::Draft;

use crate::agents::HookInput;
use crate::agents::claude_code::hook::{draft_for_event, event_name};
use crate::agents::fields::PayloadFields;
use crate::agents::hook_context::HookContext;

/// Events whose content also arrives with another event.
const REDUNDANT_EVENTS: [&str; 4] = [
    // PostToolUse repeats the tool input, with the result.
    "PreToolUse",
    // Same input as PreToolUse.
    "PermissionRequest",
    // Fires before every model request and carries only the turn.
    "PreModelRequest",
    // PostCompact follows.
    "PreCompact",
];

pub(in crate::agents) fn parse_draft(
    input: &HookInput<'_>,
    mut fields: PayloadFields,
) -> Option<Draft> {
    let event = event_name(input, &fields);
    if REDUNDANT_EVENTS.contains(&event.as_str()) {
        return None;
    }
    let context = HookContext::from_fields(input, &mut fields)?;
    draft_for_event(&context, &event, fields)
}
