//! Gemini CLI. `{"session_id", "cwd", "hook_event_name", "timestamp", …}`; prompts are called
//! BeforeAgent and begin with the texts that session-start hooks injected; results of tools are
//! wrapped, because Gemini CLI marks them as untrusted for its model; tool calls have no id.

use std::path::Path;

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool, cap_json};

use crate::agents::Heard;
use crate::agents::claude_code::hook::{compaction, event_of, session_end, session_start};
use crate::agents::fields::{Fields, joined};
use crate::agents::prompt::{unwrapped, without_leading_blocks};
use crate::agents::scene::Scene;
use crate::agents::transcript::complete_records;

/// Events whose content arrives in another event.
const ECHOES: [&str; 4] = [
    // Says a tool's input; AfterTool says it again, with the answer.
    "BeforeTool",
    // Hold the whole conversation so far; AfterModel fires for every piece of a reply.
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
];

/// What a tool showed the person, where that is more than it told the model (such as a diff).
const DISPLAY_BYTES_MAX: usize = 8 * 1024;

/// The event that a payload of Gemini CLI stands for.
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
        // Fires before every turn of the model, whether or not anything is compressed.
        "PreCompress" if fields.str("trigger") == Some("auto") => return None,
        "PreCompress" => compaction(&scene, "before", "custom_instructions", fields),
        _ => scene.unknown(&event, fields),
    })
}

/// `/quit` runs the hook two or three times, each with a time of its own. What these share is what
/// they come after: the last message of the chat.
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

/// After a stop hook sent it back to work, the reply holds all replies since the prompt.
fn stop(scene: &Scene<'_>, mut fields: Fields) -> Draft {
    let text = fields.words("prompt_response");
    fields.take("prompt"); // BeforeAgent had it.
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

/// What the model was told; with everything else of the response if that is more than a display.
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

/// Content as plain text where it is nothing but text, without the mark of the untrusted.
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
