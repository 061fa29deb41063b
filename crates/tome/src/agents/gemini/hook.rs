//! Gemini CLI hook payloads: `{"session_id", "cwd", "hook_event_name", "timestamp", …}`. Prompts
//! arrive as BeforeAgent and begin with the text that session-start hooks injected; tool results
//! are wrapped, because Gemini CLI marks them as untrusted for its model; tool calls have no id.

use std::path::Path;

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool, cap_json};

use crate::agents::HookInput;
use crate::agents::claude_code::hook::{
    compaction_draft, event_name, session_end_draft, session_start_draft,
};
use crate::agents::fields::{PayloadFields, join_text_parts};
use crate::agents::hook_context::HookContext;
use crate::agents::prompt_text::{strip_leading_blocks, strip_wrapper};
use crate::agents::transcript_record::parse_complete_records;

/// Events whose content also arrives with another event.
const REDUNDANT_EVENTS: [&str; 4] = [
    // AfterTool repeats the tool input, with the result.
    "BeforeTool",
    // Contain the whole conversation so far; AfterModel fires for every streamed fragment.
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
];

/// Limit for output shown to the user that exceeds what the model got, such as a diff.
const DISPLAY_BYTES_MAX: usize = 8 * 1024;

pub(in crate::agents) fn parse_draft(
    input: &HookInput<'_>,
    mut fields: PayloadFields,
) -> Option<Draft> {
    let event = event_name(input, &fields);
    if REDUNDANT_EVENTS.contains(&event.as_str()) {
        return None;
    }
    let context = HookContext::from_fields(input, &mut fields)?;
    Some(match event.as_str() {
        "SessionStart" => session_start_draft(&context, fields),
        "SessionEnd" => deduplicated_end_draft(&context, input, fields),
        "BeforeAgent" if fields.has("prompt") => return prompt_draft(&context, &event, fields),
        "AfterTool" if fields.get_str("tool_name").is_some() => tool_result_draft(&context, fields),
        "AfterAgent" => stop_draft(&context, fields),
        // Fires before every model turn, whether or not anything is compressed.
        "PreCompress" if fields.get_str("trigger") == Some("auto") => return None,
        "PreCompress" => compaction_draft(&context, "before", "custom_instructions", fields),
        _ => context.unknown_draft(&event, fields),
    })
}

/// `/quit` runs the hook two or three times, each with a different time. The last message of the
/// chat identifies them as one event.
fn deduplicated_end_draft(
    context: &HookContext<'_>,
    input: &HookInput<'_>,
    fields: PayloadFields,
) -> Draft {
    let path = fields.get_str("transcript_path").map(Path::new);
    let Some(chat) = path.and_then(|path| (input.read_tail)(path)) else {
        return session_end_draft(context, fields);
    };
    let records = parse_complete_records(&chat);
    let message = records.iter().rev().find_map(|record| record.get("id")?.as_str());
    let reason = fields.get_str("reason").unwrap_or_default();
    let name = format!("session_end {reason} {}", message.unwrap_or_default());
    let identity =
        context.identities().identify_by_name(EventKind::SessionEnd.default_role(), &name);
    context.build_draft(EventKind::SessionEnd, identity, String::new(), fields)
}

fn prompt_draft(
    context: &HookContext<'_>,
    event: &str,
    mut fields: PayloadFields,
) -> Option<Draft> {
    let text = fields.take_text("prompt");
    let text = strip_leading_blocks(&text, "<hook_context>", "</hook_context>");
    context.prompt_draft(event, text, None, fields)
}

/// After a stop hook sends the agent back to work, the reply contains all replies since the prompt.
fn stop_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    let text = fields.take_text("prompt_response");
    fields.take_value("prompt"); // Recorded by BeforeAgent.
    if fields.is_true("stop_hook_active") {
        fields.set("cumulative", true);
    }
    context.stop_draft(text, "", fields)
}

fn tool_result_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    let name = fields.take_text("tool_name");
    let input = fields.take_value("tool_input");
    let output = match fields.take_value("tool_response") {
        Value::Object(response) => parse_tool_response(PayloadFields::new(response), &mut fields),
        other => plain_content(other),
    };
    let identity = context.identities().for_tool_call(None, &name, &input, &output);
    context.tool_draft(identity, Tool { name, input, output }, fields)
}

/// Returns the text given to the model, with the rest of the response if that is more than a
/// display.
fn parse_tool_response(mut response: PayloadFields, fields: &mut PayloadFields) -> Value {
    let content = plain_content(response.take_value("llmContent"));
    keep_display(response.take_value("returnDisplay"), &content, fields);
    if response.has("error") {
        fields.mark_failed();
    }
    let rest = response.into_map();
    if rest.values().all(Value::is_null) {
        return content;
    }
    let mut rest = PayloadFields::new(rest);
    rest.set("llmContent", content);
    rest.into_value()
}

/// Reduces content that consists only of text to a string, without the untrusted-content wrapper.
fn plain_content(content: Value) -> Value {
    match content {
        Value::String(text) => Value::String(strip_untrusted_wrapper(text)),
        Value::Array(parts) => {
            let parts: Vec<Value> = parts.into_iter().map(unwrap_part).collect();
            let parts = Value::Array(parts);
            join_text_parts(&parts).map_or(parts, Value::String)
        }
        part @ Value::Object(_) => {
            let part = unwrap_part(part);
            join_text_parts(&part).map_or(part, Value::String)
        }
        other => other,
    }
}

fn unwrap_part(mut part: Value) -> Value {
    match &mut part {
        Value::String(text) => *text = strip_untrusted_wrapper(std::mem::take(text)),
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("text") {
                *text = strip_untrusted_wrapper(std::mem::take(text));
            }
        }
        _ => {}
    }
    part
}

pub(in crate::agents) fn strip_untrusted_wrapper(text: String) -> String {
    let inside = strip_wrapper(&text, "<untrusted_context>", "</untrusted_context>");
    if inside.len() == text.len() { text } else { inside.to_owned() }
}

fn keep_display(display: Value, content: &Value, fields: &mut PayloadFields) {
    let repeats = match (&display, content) {
        (Value::String(shown), Value::String(content)) => content.contains(shown.as_str()),
        _ => display.is_null(),
    };
    if !repeats {
        fields.set("display", cap_json(display, DISPLAY_BYTES_MAX).0);
    }
}
