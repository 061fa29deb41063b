//! Claude Code, and the agents that speak its shapes.
//!
//! `{"session_id", "cwd", "hook_event_name", …}`, no time: events are stamped on arrival. Events
//! fired inside a subagent carry `agent_id` and are kept, with it in their meta.

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool};

use crate::agents::Heard;
use crate::agents::fields::Fields;
use crate::agents::scene::Scene;

/// Events whose content arrives in another event.
const ECHOES: [&str; 6] = [
    // Says a tool's input; PostToolUse and PostToolUseFailure say it again, with the answer.
    "PreToolUse",
    // Asks about the same input.
    "PermissionRequest",
    // The tool results of one step once more, together.
    "PostToolBatch",
    // The reply in pieces while it is shown; Stop has it whole.
    "MessageDisplay",
    // UserPromptSubmit says the same line, as the person typed it.
    "UserPromptExpansion",
    // Announces a compaction; PostCompact reports it, with the summary.
    "PreCompact",
];

/// Parts of `source` values of prompts that no person typed at that moment.
pub(in crate::agents) const NOT_A_PERSON: [&str; 7] =
    ["system", "wakeup", "cron", "schedule", "task", "agent", "teammate"];

/// The event that a payload of Claude Code stands for.
pub(in crate::agents) fn draft(heard: &Heard<'_>, mut fields: Fields) -> Option<Draft> {
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) || is_internal(&event, &fields) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    known(&scene, &event, fields)
}

/// Claude Code runs helpers of its own as subagents without a type, such as the one that writes the
/// summary of a compaction. They have no start and no transcript, and PostCompact has the summary.
fn is_internal(event: &str, fields: &Fields) -> bool {
    event == "SubagentStop" && fields.get("agent_type") == Some(&Value::String(String::new()))
}

/// What the payload calls itself; failing that, what the command line calls it.
pub(in crate::agents) fn event_of(heard: &Heard<'_>, fields: &Fields) -> String {
    let named = fields.str("hook_event_name").or(heard.event);
    named.unwrap_or_default().to_owned()
}

/// The event, if its agent has not already left it out. Codex shares all of it.
pub(in crate::agents) fn known(scene: &Scene<'_>, event: &str, fields: Fields) -> Option<Draft> {
    Some(match event {
        "SessionStart" => session_start(scene, fields),
        "SessionEnd" => session_end(scene, fields),
        "UserPromptSubmit" if fields.has("prompt") => return prompt(scene, event, fields),
        "PostToolUse" if fields.str("tool_name").is_some() => tool_result(scene, fields),
        "PostToolUseFailure" if fields.str("tool_name").is_some() => tool_failure(scene, fields),
        "Stop" => stop(scene, fields),
        "StopFailure" => stop_failure(scene, fields),
        "SubagentStart" => subagent(scene, EventKind::SubagentStart, fields),
        "SubagentStop" => subagent(scene, EventKind::SubagentStop, fields),
        "PostCompact" => compaction(scene, "after", "compact_summary", fields),
        _ => scene.unknown(event, fields),
    })
}

/// The start is where the transcript's path is kept: every later event can be traced to it.
pub(in crate::agents) fn session_start(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let source = fields.str("source").unwrap_or_default().to_owned();
    let turn = turn_of(&fields).to_owned();
    let transcript = fields.take("transcript_path");
    fields.put("transcript", transcript);
    scene.moment(EventKind::SessionStart, &[&source, &turn], String::new(), fields)
}

pub(in crate::agents) fn session_end(scene: &Scene<'_>, fields: Fields) -> Draft {
    let reason = fields.str("reason").unwrap_or_default().to_owned();
    let turn = turn_of(&fields).to_owned();
    scene.moment(EventKind::SessionEnd, &[&reason, &turn], String::new(), fields)
}

fn prompt(scene: &Scene<'_>, event: &str, mut fields: Fields) -> Option<Draft> {
    let source = fields.str("source").unwrap_or_default();
    if NOT_A_PERSON.iter().any(|part| source.contains(part)) {
        return Some(scene.unknown(event, fields));
    }
    let text = fields.words("prompt");
    let turn = Some(turn_of(&fields).to_owned()).filter(|turn| !turn.is_empty());
    scene.prompt(event, &text, turn.as_deref(), fields)
}

fn tool_result(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let output = match fields.take("tool_response") {
        // Copilot also runs the hooks of `.claude/settings.json`, and has its own name for this.
        Value::Null => fields.take("tool_result"),
        output => output,
    };
    tool(scene, output, fields)
}

fn tool_failure(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let output = fields.take("error");
    fields.put_failed();
    tool(scene, output, fields)
}

fn tool(scene: &Scene<'_>, output: Value, mut fields: Fields) -> Draft {
    let tool = Tool { name: fields.words("tool_name"), input: fields.take("tool_input"), output };
    let id = fields.str("tool_use_id");
    let identity = scene.whose().tool(id, &tool.name, &tool.input, &tool.output);
    scene.tool(identity, tool, fields)
}

fn stop(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let text = fields.words("last_assistant_message");
    let turn = turn_of(&fields).to_owned();
    scene.stop(text, &turn, fields)
}

fn stop_failure(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    fields.put_failed();
    stop(scene, fields)
}

/// Its own id, and its words: a subagent that a hook sent back to work stops twice.
pub(in crate::agents) fn subagent(scene: &Scene<'_>, kind: EventKind, mut fields: Fields) -> Draft {
    let text = fields.words("last_assistant_message");
    let id = fields.str("agent_id").unwrap_or_default().to_owned();
    scene.moment(kind, &[&id], text, fields)
}

pub(in crate::agents) fn compaction(
    scene: &Scene<'_>,
    phase: &str,
    text_field: &str,
    mut fields: Fields,
) -> Draft {
    let text = fields.words(text_field);
    let trigger = fields.str("trigger").unwrap_or_default().to_owned();
    let turn = turn_of(&fields).to_owned();
    fields.put("phase", phase);
    scene.moment(EventKind::Compaction, &[phase, &trigger, &turn], text, fields)
}

/// The agent's own name for the turn.
fn turn_of(fields: &Fields) -> &str {
    let turn = fields.str("prompt_id").or_else(|| fields.str("turn_id"));
    turn.unwrap_or_default()
}
