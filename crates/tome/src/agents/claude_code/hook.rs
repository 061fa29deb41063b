//! Hook payloads of Claude Code and of the agents that copied its format.
//!
//! `{"session_id", "cwd", "hook_event_name", …}` without a time, so events are stamped on arrival.
//! Events fired inside a subagent carry `agent_id`, which is kept in their meta.

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool};

use crate::agents::Heard;
use crate::agents::fields::Fields;
use crate::agents::scene::Scene;

/// Events whose content also arrives with another event.
const ECHOES: [&str; 6] = [
    // PostToolUse and PostToolUseFailure repeat the tool input, with the result.
    "PreToolUse",
    // Same input as PreToolUse.
    "PermissionRequest",
    // The tool results of one step, batched.
    "PostToolBatch",
    // Streaming fragments of the reply; Stop has the full text.
    "MessageDisplay",
    // UserPromptSubmit has the same line as typed.
    "UserPromptExpansion",
    // PostCompact follows, with the summary.
    "PreCompact",
];

/// Substrings of `source` values that mark a prompt as not typed by a person.
pub(in crate::agents) const NOT_A_PERSON: [&str; 7] =
    ["system", "wakeup", "cron", "schedule", "task", "agent", "teammate"];

pub(in crate::agents) fn draft(heard: &Heard<'_>, mut fields: Fields) -> Option<Draft> {
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) || is_internal(&event, &fields) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    known(&scene, &event, fields)
}

/// Recognizes Claude Code's own helpers, such as the summarizer of a compaction: subagents without
/// a type. They have no start event and no transcript, and PostCompact carries the summary.
fn is_internal(event: &str, fields: &Fields) -> bool {
    event == "SubagentStop" && fields.get("agent_type") == Some(&Value::String(String::new()))
}

/// Returns the event name from the payload, or else from the command line.
pub(in crate::agents) fn event_of(heard: &Heard<'_>, fields: &Fields) -> String {
    let named = fields.str("hook_event_name").or(heard.event);
    named.unwrap_or_default().to_owned()
}

/// Builds the draft for an event name. Codex shares this.
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

/// Keeps the transcript's path, so that every later event of the session can be traced to it.
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
        // Copilot also runs the hooks of `.claude/settings.json` and names this field differently.
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

/// Identified by subagent id and text: a subagent that a hook sends back to work stops twice.
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

fn turn_of(fields: &Fields) -> &str {
    let turn = fields.str("prompt_id").or_else(|| fields.str("turn_id"));
    turn.unwrap_or_default()
}
