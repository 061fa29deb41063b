//! Gemini CLI hook payloads: `{"session_id", "cwd", "hook_event_name", "timestamp", …}`. Prompts
//! arrive as BeforeAgent and begin with the text that session-start hooks injected; tool results
//! are wrapped, because Gemini CLI marks them as untrusted for its model; tool calls have no id.

use std::path::Path;

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool, cap_json};

use crate::agents::Heard;
use crate::agents::claude_code::hook::{compaction, event_of, session_end, session_start};
use crate::agents::fields::{Fields, joined};
use crate::agents::prompt::{unwrapped, without_leading_blocks};
use crate::agents::scene::Scene;
use crate::agents::transcript::complete_records;

/// Events whose content also arrives with another event.
const ECHOES: [&str; 4] = [
    // AfterTool repeats the tool input, with the result.
    "BeforeTool",
    // Contain the whole conversation so far; AfterModel fires for every streamed fragment.
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
];

/// Limit for output shown to the user that exceeds what the model got, such as a diff.
const DISPLAY_BYTES_MAX: usize = 8 * 1024;

pub(in crate::agents) fn draft(heard: &Heard<'_>, mut fields: Fields) -> Option<Draft> {
    let event = event_of(heard, &fields);
    if ECHOES.contains(&event.as_str()) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    Some(match event.as_str() {
        "SessionStart" => session_start(&scene, fields),
        "SessionEnd" => end(&scene, heard, fields),
        "BeforeAgent" if fields.has("prompt") => return prompt(&scene, &event, fields),
        "AfterTool" if fields.str("tool_name").is_some() => tool_result(&scene, fields),
        "AfterAgent" => stop(&scene, fields),
        // Fires before every model turn, whether or not anything is compressed.
        "PreCompress" if fields.str("trigger") == Some("auto") => return None,
        "PreCompress" => compaction(&scene, "before", "custom_instructions", fields),
        _ => scene.unknown(&event, fields),
    })
}

/// `/quit` runs the hook two or three times, each with a different time. The last message of the
/// chat identifies them as one event.
fn end(scene: &Scene<'_>, heard: &Heard<'_>, fields: Fields) -> Draft {
    let path = fields.str("transcript_path").map(Path::new);
    let Some(chat) = path.and_then(|path| (heard.read_tail)(path)) else {
        return session_end(scene, fields);
    };
    let records = complete_records(&chat);
    let message = records.iter().rev().find_map(|record| record.get("id")?.as_str());
    let reason = fields.str("reason").unwrap_or_default();
    let name = format!("session_end {reason} {}", message.unwrap_or_default());
    let identity = scene.whose().named(EventKind::SessionEnd.default_role(), &name);
    scene.draft(EventKind::SessionEnd, identity, String::new(), fields)
}

fn prompt(scene: &Scene<'_>, event: &str, mut fields: Fields) -> Option<Draft> {
    let text = fields.words("prompt");
    let text = without_leading_blocks(&text, "<hook_context>", "</hook_context>");
    scene.prompt(event, text, None, fields)
}

/// After a stop hook sends the agent back to work, the reply contains all replies since the prompt.
fn stop(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let text = fields.words("prompt_response");
    fields.take("prompt"); // Recorded by BeforeAgent.
    if fields.is_true("stop_hook_active") {
        fields.put("cumulative", true);
    }
    scene.stop(text, "", fields)
}

fn tool_result(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let name = fields.words("tool_name");
    let input = fields.take("tool_input");
    let output = match fields.take("tool_response") {
        Value::Object(response) => answer(Fields::new(response), &mut fields),
        other => told(other),
    };
    let identity = scene.whose().tool(None, &name, &input, &output);
    scene.tool(identity, Tool { name, input, output }, fields)
}

/// Returns the text given to the model, with the rest of the response if that is more than a
/// display.
fn answer(mut response: Fields, fields: &mut Fields) -> Value {
    let told = told(response.take("llmContent"));
    keep_display(response.take("returnDisplay"), &told, fields);
    if response.has("error") {
        fields.put_failed();
    }
    let rest = response.into_map();
    if rest.values().all(Value::is_null) {
        return told;
    }
    let mut rest = Fields::new(rest);
    rest.put("llmContent", told);
    rest.into_value()
}

/// Reduces content that consists only of text to a string, without the untrusted-content wrapper.
fn told(content: Value) -> Value {
    match content {
        Value::String(text) => Value::String(trusted(text)),
        Value::Array(parts) => {
            let parts: Vec<Value> = parts.into_iter().map(told_part).collect();
            let parts = Value::Array(parts);
            joined(&parts).map_or(parts, Value::String)
        }
        part @ Value::Object(_) => {
            let part = told_part(part);
            joined(&part).map_or(part, Value::String)
        }
        other => other,
    }
}

fn told_part(mut part: Value) -> Value {
    match &mut part {
        Value::String(text) => *text = trusted(std::mem::take(text)),
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("text") {
                *text = trusted(std::mem::take(text));
            }
        }
        _ => {}
    }
    part
}

pub(in crate::agents) fn trusted(text: String) -> String {
    let inside = unwrapped(&text, "<untrusted_context>", "</untrusted_context>");
    if inside.len() == text.len() { text } else { inside.to_owned() }
}

fn keep_display(display: Value, told: &Value, fields: &mut Fields) {
    let repeats = match (&display, told) {
        (Value::String(shown), Value::String(told)) => told.contains(shown.as_str()),
        _ => display.is_null(),
    };
    if !repeats {
        fields.put("display", cap_json(display, DISPLAY_BYTES_MAX).0);
    }
}
