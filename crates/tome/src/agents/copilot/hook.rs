//! Copilot CLI hook payloads in both dialects: camelCase payloads that do not name their event (the
//! command line does; otherwise it is inferred from the fields), and snake_case payloads with
//! Claude Code's event and tool names. Both are converted to snake_case.
//!
//! A stop payload does not carry the final reply, and Copilot writes the session's log after the
//! hooks run. The stop is recorded without text; `turn.rs` reads the reply from the log once the
//! log is complete, under the id that an import gives it.

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool};

use crate::agents::HookInput;
use crate::agents::claude_code::hook::{
    compaction_draft, session_end_draft, session_start_draft, subagent_draft,
};
use crate::agents::fields::PayloadFields;
use crate::agents::hook_context::HookContext;

/// Events whose content also arrives with another event.
const REDUNDANT_EVENTS: [&str; 4] = [
    // postToolUse repeats the tool input, with the result.
    "preToolUse",
    "preMcpToolCall",
    // Same input as preToolUse.
    "permissionRequest",
    // The prompt with the harness's additions.
    "userPromptTransformed",
];

/// Event names that differ between the dialects by more than case.
const EVENT_ALIASES: [(&str, &str); 2] =
    [("UserPromptSubmit", "userPromptSubmitted"), ("Stop", "agentStop")];

/// Tools that the snake_case dialect calls by Claude Code's names. A call is one event, whichever
/// dialects its hooks use.
const TOOL_ALIASES: [(&str, &str); 8] = [
    ("bash", "Bash"),
    ("view", "Read"),
    ("create", "Write"),
    ("edit", "Edit"),
    ("apply_patch", "Edit"),
    ("grep", "Grep"),
    ("update_todo", "TodoWrite"),
    ("task", "Agent"),
];

pub(in crate::agents) fn parse_draft(
    input: &HookInput<'_>,
    fields: PayloadFields,
) -> Option<Draft> {
    let mut fields = fields.into_snake_case();
    let event = event_name(input, &fields);
    if REDUNDANT_EVENTS.contains(&event.as_str()) {
        return None;
    }
    let context = HookContext::from_fields(input, &mut fields)?;
    Some(match event.as_str() {
        "sessionStart" => {
            fields.take_value("initial_prompt"); // Repeated by userPromptSubmitted.
            session_start_draft(&context, fields)
        }
        "sessionEnd" => session_end_draft(&context, fields),
        "userPromptSubmitted" if fields.has("prompt") => {
            let text = fields.take_text("prompt");
            return context.prompt_draft(&event, &text, None, fields);
        }
        "postToolUse" | "postToolUseFailure" if fields.get_str("tool_name").is_some() => {
            tool_result_draft(&context, &event, fields)
        }
        "agentStop" => context.stop_draft(String::new(), "", fields),
        "subagentStart" => subagent_draft(&context, EventKind::SubagentStart, fields),
        "subagentStop" => {
            if fields.has("response") {
                let response = fields.take_value("response");
                fields.set("last_assistant_message", response);
            }
            subagent_draft(&context, EventKind::SubagentStop, fields)
        }
        "preCompact" => compaction_draft(&context, "before", "custom_instructions", fields),
        _ => context.unknown_draft(&event, fields),
    })
}

/// Returns the camelCase name of a snake_case payload's event.
pub(super) fn event_name(input: &HookInput<'_>, fields: &PayloadFields) -> String {
    let named = fields.get_str("hook_event_name").or(input.event);
    named.map_or_else(|| infer_event(fields).to_owned(), to_camel_case)
}

/// `SessionStart` becomes `sessionStart`.
fn to_camel_case(event: &str) -> String {
    if let Some((_, ours)) = EVENT_ALIASES.iter().find(|(theirs, _)| *theirs == event) {
        return (*ours).to_owned();
    }
    let mut chars = event.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_ascii_lowercase(), chars.as_str())
    })
}

/// Infers the event of an unnamed payload from fields that only this event has.
fn infer_event(fields: &PayloadFields) -> &'static str {
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

fn tool_result_draft(context: &HookContext<'_>, event: &str, mut fields: PayloadFields) -> Draft {
    let name = fields.take_text("tool_name");
    let input = take_tool_input(&mut fields);
    let output = take_tool_output(&mut fields);
    let result = fields.get_str("result_type");
    if event == "postToolUseFailure" || result.is_some_and(|result| result != "success") {
        fields.mark_failed();
    }
    let identity =
        context.identities().for_tool_call(None, canonical_tool_name(&name), &input, &output);
    context.tool_draft(identity, Tool { name, input, output }, fields)
}

/// Maps both dialects' names of a tool to one.
pub(in crate::agents) fn canonical_tool_name(name: &str) -> &str {
    let also = TOOL_ALIASES.iter().find(|(ours, _)| *ours == name);
    also.map_or(name, |(_, theirs)| theirs)
}

/// Returns the tool's input; older versions send it as JSON inside a string.
fn take_tool_input(fields: &mut PayloadFields) -> Value {
    let name = if fields.has("tool_input") { "tool_input" } else { "tool_args" };
    match fields.take_value(name) {
        Value::String(text) => serde_json::from_str::<serde_json::Map<_, _>>(&text)
            .map_or(Value::String(text), Value::Object),
        arguments => arguments,
    }
}

/// Returns the text given to the model, or the error; the result type becomes a field of its own.
fn take_tool_output(fields: &mut PayloadFields) -> Value {
    let mut result = fields.take_object("tool_result").into_snake_case();
    let kind = result.take_value("result_type");
    fields.set("result_type", kind);
    if result.has("text_result_for_llm") {
        // The rest is telemetry and the same text for display.
        return result.take_value("text_result_for_llm");
    }
    let rest = result.into_map();
    if !rest.is_empty() {
        return Value::Object(rest);
    }
    match fields.take_value("tool_result") {
        Value::Null => fields.take_value("error"),
        other => other,
    }
}
