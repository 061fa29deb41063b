//! Copilot CLI hook payloads in both dialects: camelCase payloads that do not name their event (the
//! command line does; otherwise it is inferred from the fields), and snake_case payloads with
//! Claude Code's event and tool names. Both are converted to snake_case.
//!
//! A stop payload does not carry the final reply, and Copilot writes the session's log after the
//! hooks run. The stop is recorded without text; `turn.rs` reads the reply from the log once the
//! log is complete, under the id that an import gives it.

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool};

use crate::agents::Heard;
use crate::agents::claude_code::hook::{compaction, session_end, session_start, subagent};
use crate::agents::fields::Fields;
use crate::agents::scene::Scene;

/// Events whose content also arrives with another event.
const ECHOES: [&str; 4] = [
    // postToolUse repeats the tool input, with the result.
    "preToolUse",
    "preMcpToolCall",
    // Same input as preToolUse.
    "permissionRequest",
    // The prompt with the harness's additions.
    "userPromptTransformed",
];

/// Event names that differ between the dialects by more than case.
const ALSO_CALLED: [(&str, &str); 2] =
    [("UserPromptSubmit", "userPromptSubmitted"), ("Stop", "agentStop")];

/// Tools that the snake_case dialect calls by Claude Code's names. A call is one event, whichever
/// dialects its hooks use.
const TOOLS_ALSO_CALLED: [(&str, &str); 8] = [
    ("bash", "Bash"),
    ("view", "Read"),
    ("create", "Write"),
    ("edit", "Edit"),
    ("apply_patch", "Edit"),
    ("grep", "Grep"),
    ("update_todo", "TodoWrite"),
    ("task", "Agent"),
];

pub(in crate::agents) fn draft(heard: &Heard<'_>, fields: Fields) -> Option<Draft> {
    let mut fields = fields.in_snake_case();
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    Some(match event.as_str() {
        "sessionStart" => {
            fields.take("initial_prompt"); // Repeated by userPromptSubmitted.
            session_start(&scene, fields)
        }
        "sessionEnd" => session_end(&scene, fields),
        "userPromptSubmitted" if fields.has("prompt") => {
            let text = fields.words("prompt");
            return scene.prompt(&event, &text, None, fields);
        }
        "postToolUse" | "postToolUseFailure" if fields.str("tool_name").is_some() => {
            tool_result(&scene, &event, fields)
        }
        "agentStop" => scene.stop(String::new(), "", fields),
        "subagentStart" => subagent(&scene, EventKind::SubagentStart, fields),
        "subagentStop" => {
            if fields.has("response") {
                let response = fields.take("response");
                fields.put("last_assistant_message", response);
            }
            subagent(&scene, EventKind::SubagentStop, fields)
        }
        "preCompact" => compaction(&scene, "before", "custom_instructions", fields),
        _ => scene.unknown(&event, fields),
    })
}

/// Returns the camelCase name of a snake_case payload's event.
pub(super) fn event_of(heard: &Heard<'_>, fields: &Fields) -> String {
    let named = fields.str("hook_event_name").or(heard.event);
    named.map_or_else(|| guessed(fields).to_owned(), in_camel_case)
}

/// `SessionStart` becomes `sessionStart`.
fn in_camel_case(event: &str) -> String {
    if let Some((_, ours)) = ALSO_CALLED.iter().find(|(theirs, _)| *theirs == event) {
        return (*ours).to_owned();
    }
    let mut chars = event.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_ascii_lowercase(), chars.as_str())
    })
}

/// Infers the event of an unnamed payload from fields that only this event has.
fn guessed(fields: &Fields) -> &'static str {
    let has = |name| fields.has(name);
    match () {
        () if has("transformed_prompt") => "userPromptTransformed",
        () if has("initial_prompt") => "sessionStart",
        () if has("prompt") => "userPromptSubmitted",
        () if has("tool_result") => "postToolUse",
        () if has("tool_name") && has("error") => "postToolUseFailure",
        () if has("tool_name") || has("tool_calls") => "preToolUse",
        () if has("error") => "errorOccurred",
        () if has("trigger") => "preCompact",
        () if has("agent_name") || has("agent_id") => {
            if has("response") || has("stop_reason") {
                "subagentStop"
            } else {
                "subagentStart"
            }
        }
        () if has("stop_reason") => "agentStop",
        () if has("message") => "notification",
        () if has("source") => "sessionStart",
        () if has("reason") => "sessionEnd",
        () => "",
    }
}

fn tool_result(scene: &Scene<'_>, event: &str, mut fields: Fields) -> Draft {
    let name = fields.words("tool_name");
    let input = arguments(&mut fields);
    let output = answer(&mut fields);
    let result = fields.str("result_type");
    if event == "postToolUseFailure" || result.is_some_and(|result| result != "success") {
        fields.put_failed();
    }
    let identity = scene.whose().tool(None, called(&name), &input, &output);
    scene.tool(identity, Tool { name, input, output }, fields)
}

/// Maps both dialects' names of a tool to one.
pub(in crate::agents) fn called(name: &str) -> &str {
    let also = TOOLS_ALSO_CALLED.iter().find(|(ours, _)| *ours == name);
    also.map_or(name, |(_, theirs)| theirs)
}

/// Returns the tool's input; older versions send it as JSON inside a string.
fn arguments(fields: &mut Fields) -> Value {
    let name = if fields.has("tool_input") { "tool_input" } else { "tool_args" };
    match fields.take(name) {
        Value::String(text) => serde_json::from_str::<serde_json::Map<_, _>>(&text)
            .map_or(Value::String(text), Value::Object),
        arguments => arguments,
    }
}

/// Returns the text given to the model, or the error; the result type becomes a field of its own.
fn answer(fields: &mut Fields) -> Value {
    let mut result = fields.object("tool_result").in_snake_case();
    let kind = result.take("result_type");
    fields.put("result_type", kind);
    if result.has("text_result_for_llm") {
        // The rest is telemetry and the same text for display.
        return result.take("text_result_for_llm");
    }
    let rest = result.into_map();
    if !rest.is_empty() {
        return Value::Object(rest);
    }
    match fields.take("tool_result") {
        Value::Null => fields.take("error"),
        other => other,
    }
}
