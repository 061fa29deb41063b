//! Hook payloads of Claude Code and of the agents that copied its format.
//!
//! `{"session_id", "cwd", "hook_event_name", …}` without a time, so events are stamped on arrival.
//! Events fired inside a subagent carry `agent_id`, which is kept in their meta.

use serde_json::Value;
use tome_model::{Draft, EventKind, Tool};

use crate::agents::HookInput;
use crate::agents::fields::PayloadFields;
use crate::agents::hook_context::HookContext;

/// Events whose content also arrives with another event.
const REDUNDANT_EVENTS: [&str; 6] = [
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
pub(in crate::agents) const AUTOMATED_SOURCES: [&str; 7] =
    ["system", "wakeup", "cron", "schedule", "task", "agent", "teammate"];

pub(in crate::agents) fn parse_draft(
    input: &HookInput<'_>,
    mut fields: PayloadFields,
) -> Option<Draft> {
    let event = event_name(input, &fields);
    if REDUNDANT_EVENTS.contains(&event.as_str()) || is_internal(&event, &fields) {
        return None;
    }
    let context = HookContext::from_fields(input, &mut fields)?;
    draft_for_event(&context, &event, fields)
}

/// Recognizes Claude Code's own helpers, such as the summarizer of a compaction: subagents without
/// a type. They have no start event and no transcript, and PostCompact carries the summary.
fn is_internal(event: &str, fields: &PayloadFields) -> bool {
    event == "SubagentStop" && fields.get("agent_type") == Some(&Value::String(String::new()))
}

/// Returns the event name from the payload, or else from the command line.
pub(in crate::agents) fn event_name(input: &HookInput<'_>, fields: &PayloadFields) -> String {
    let named = fields.get_str("hook_event_name").or(input.event);
    named.unwrap_or_default().to_owned()
}

/// Builds the draft for an event name. Codex shares this.
pub(in crate::agents) fn draft_for_event(
    context: &HookContext<'_>,
    event: &str,
    fields: PayloadFields,
) -> Option<Draft> {
    Some(match event {
        "SessionStart" => session_start_draft(context, fields),
        "SessionEnd" => session_end_draft(context, fields),
        "UserPromptSubmit" if fields.has("prompt") => return prompt_draft(context, event, fields),
        "PostToolUse" if fields.get_str("tool_name").is_some() => {
            tool_result_draft(context, fields)
        }
        "PostToolUseFailure" if fields.get_str("tool_name").is_some() => {
            tool_failure_draft(context, fields)
        }
        "Stop" => stop_draft(context, fields),
        "StopFailure" => stop_failure_draft(context, fields),
        "SubagentStart" => subagent_draft(context, EventKind::SubagentStart, fields),
        "SubagentStop" => subagent_draft(context, EventKind::SubagentStop, fields),
        "PostCompact" => compaction_draft(context, "after", "compact_summary", fields),
        _ => context.unknown_draft(event, fields),
    })
}

/// Keeps the transcript's path, so that every later event of the session can be traced to it.
pub(in crate::agents) fn session_start_draft(
    context: &HookContext<'_>,
    mut fields: PayloadFields,
) -> Draft {
    let source = fields.get_str("source").unwrap_or_default().to_owned();
    let turn = turn_id(&fields).to_owned();
    let transcript = fields.take_value("transcript_path");
    fields.set("transcript", transcript);
    context.lifecycle_draft(EventKind::SessionStart, &[&source, &turn], String::new(), fields)
}

pub(in crate::agents) fn session_end_draft(
    context: &HookContext<'_>,
    fields: PayloadFields,
) -> Draft {
    let reason = fields.get_str("reason").unwrap_or_default().to_owned();
    let turn = turn_id(&fields).to_owned();
    context.lifecycle_draft(EventKind::SessionEnd, &[&reason, &turn], String::new(), fields)
}

fn prompt_draft(
    context: &HookContext<'_>,
    event: &str,
    mut fields: PayloadFields,
) -> Option<Draft> {
    let source = fields.get_str("source").unwrap_or_default();
    if AUTOMATED_SOURCES.iter().any(|part| source.contains(part)) {
        return Some(context.unknown_draft(event, fields));
    }
    let text = fields.take_text("prompt");
    let turn = Some(turn_id(&fields).to_owned()).filter(|turn| !turn.is_empty());
    context.prompt_draft(event, &text, turn.as_deref(), fields)
}

fn tool_result_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    let output = match fields.take_value("tool_response") {
        // Copilot also runs the hooks of `.claude/settings.json` and names this field differently.
        Value::Null => fields.take_value("tool_result"),
        output => output,
    };
    tool_draft(context, output, fields)
}

fn tool_failure_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    let output = fields.take_value("error");
    fields.mark_failed();
    tool_draft(context, output, fields)
}

fn tool_draft(context: &HookContext<'_>, output: Value, mut fields: PayloadFields) -> Draft {
    let tool = Tool {
        name: fields.take_text("tool_name"),
        input: fields.take_value("tool_input"),
        output,
    };
    let id = fields.get_str("tool_use_id");
    let identity = context.identities().for_tool_call(id, &tool.name, &tool.input, &tool.output);
    context.tool_draft(identity, tool, fields)
}

fn stop_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    let text = fields.take_text("last_assistant_message");
    let turn = turn_id(&fields).to_owned();
    context.stop_draft(text, &turn, fields)
}

fn stop_failure_draft(context: &HookContext<'_>, mut fields: PayloadFields) -> Draft {
    fields.mark_failed();
    stop_draft(context, fields)
}

/// Identified by subagent id and text: a subagent that a hook sends back to work stops twice.
pub(in crate::agents) fn subagent_draft(
    context: &HookContext<'_>,
    kind: EventKind,
    mut fields: PayloadFields,
) -> Draft {
    let text = fields.take_text("last_assistant_message");
    let id = fields.get_str("agent_id").unwrap_or_default().to_owned();
    context.lifecycle_draft(kind, &[&id], text, fields)
}

pub(in crate::agents) fn compaction_draft(
    context: &HookContext<'_>,
    phase: &str,
    text_field: &str,
    mut fields: PayloadFields,
) -> Draft {
    let text = fields.take_text(text_field);
    let trigger = fields.get_str("trigger").unwrap_or_default().to_owned();
    let turn = turn_id(&fields).to_owned();
    fields.set("phase", phase);
    context.lifecycle_draft(EventKind::Compaction, &[phase, &trigger, &turn], text, fields)
}

fn turn_id(fields: &PayloadFields) -> &str {
    let turn = fields.get_str("prompt_id").or_else(|| fields.get_str("turn_id"));
    turn.unwrap_or_default()
}
