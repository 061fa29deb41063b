//! Codex hook payloads: Claude Code's format, with `turn_id` and `model` in every event, which stay
//! in the meta. `tool_response` is a string or the full result of an MCP tool.

use tome_model::Draft;

use crate::agents::Heard;
use crate::agents::claude_code::hook::{event_of, known};
use crate::agents::fields::Fields;
use crate::agents::scene::Scene;

/// Events whose content also arrives with another event.
const ECHOES: [&str; 4] = [
    // PostToolUse repeats the tool input, with the result.
    "PreToolUse",
    // Same input as PreToolUse.
    "PermissionRequest",
    // Fires before every model request and carries only the turn.
    "PreModelRequest",
    // PostCompact follows.
    "PreCompact",
];

pub(in crate::agents) fn draft(heard: &Heard<'_>, mut fields: Fields) -> Option<Draft> {
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    known(&scene, &event, fields)
}
