//! Codex: Claude Code's shapes, with `turn_id` and `model` in every event, which stay in its meta.
//! `tool_response` is a text, or the whole result of an MCP tool.

use tome_model::Draft;

use crate::agents::Heard;
use crate::agents::claude_code::hook::{event_of, known};
use crate::agents::fields::Fields;
use crate::agents::scene::Scene;

/// Events whose content arrives in another event.
const ECHOES: [&str; 4] = [
    // Says a tool's input; PostToolUse says it again, with the answer.
    "PreToolUse",
    // Asks about the same input.
    "PermissionRequest",
    // Fires before every request to the model and says nothing but the turn.
    "PreModelRequest",
    // Announces a compaction; PostCompact reports it.
    "PreCompact",
];

/// The event that a payload of Codex stands for.
pub(in crate::agents) fn draft(heard: &Heard<'_>, mut fields: Fields) -> Option<Draft> {
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    known(&scene, &event, fields)
}
