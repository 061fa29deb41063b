//! Copilot CLI, in both of its dialects: camelCase payloads that do not name their event (the
//! command line does; failing that, their fields give it away), and snake_case payloads with
//! Claude Code's event names and tool names. Both are read as snake_case.
//!
//! A stop does not say the final words; they are read from the end of the session's own log, which is
//! written a little behind the hooks: it is waited for as long as there is time. What comes later still
//! is brought by an import.

use std::path::Path;

use serde_json::Value;
use tome_model::{Draft, EventKind, Millis, Tool};

use crate::agents::Heard;
use crate::agents::claude_code::hook::{compaction, session_end, session_start, subagent};
use crate::agents::fields::Fields;
use crate::agents::scene::{Scene, stamp_of};

/// Events whose content arrives in another event.
const ECHOES: [&str; 4] = [
    // Says a tool's input; postToolUse says it again, with the answer.
    "preToolUse",
    "preMcpToolCall",
    // Asks about the same input.
    "permissionRequest",
    // The prompt once more, with what the harness added to it.
    "userPromptTransformed",
];

/// Names of events in the other dialect.
const ALSO_CALLED: [(&str, &str); 2] =
    [("UserPromptSubmit", "userPromptSubmitted"), ("Stop", "agentStop")];

/// Tools that the other dialect calls by Claude Code's names. One call is one event, whichever
/// dialects its hooks are wired in.
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

/// The event that a payload of Copilot CLI stands for.
pub(in crate::agents) fn draft(heard: &Heard<'_>, fields: Fields) -> Option<Draft> {
    let mut fields = fields.in_snake_case();
    let named = fields.str("hook_event_name").or(heard.event);
    let event = named.map_or_else(|| guessed(&fields).to_owned(), in_camel_case);
    if ECHOES.contains(&event.as_str()) {
        return None;
    }
    let scene = Scene::of(heard, &mut fields)?;
    Some(match event.as_str() {
        "sessionStart" => {
            fields.take("initial_prompt"); // userPromptSubmitted says it again.
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
        "agentStop" => stop(&scene, heard, fields),
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

/// The event of a payload that nobody named, from the fields that only it has.
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

/// The one name of a tool, whichever dialect says it.
pub(in crate::agents) fn called(name: &str) -> &str {
    let also = TOOLS_ALSO_CALLED.iter().find(|(ours, _)| *ours == name);
    also.map_or(name, |(_, theirs)| theirs)
}

/// What the tool was called with; older versions send it as JSON inside a text.
fn arguments(fields: &mut Fields) -> Value {
    let name = if fields.has("tool_input") { "tool_input" } else { "tool_args" };
    match fields.take(name) {
        Value::String(text) => serde_json::from_str::<serde_json::Map<_, _>>(&text)
            .map_or(Value::String(text), Value::Object),
        arguments => arguments,
    }
}

/// What the model was told, or the error; the kind of result goes beside it.
fn answer(fields: &mut Fields) -> Value {
    let mut result = fields.object("tool_result").in_snake_case();
    let kind = result.take("result_type");
    fields.put("result_type", kind);
    if result.has("text_result_for_llm") {
        // The rest of it is telemetry and the same text for the person.
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

fn stop(scene: &Scene<'_>, heard: &Heard<'_>, fields: Fields) -> Draft {
    let stopped = scene.whose().stamp;
    let read = || {
        let tail = (heard.read_tail)(Path::new(fields.str("transcript_path")?))?;
        Some(ending(&tail, stopped))
    };
    let mut end = read();
    while end.as_ref().is_some_and(|end| end.words.is_none() && !end.is_whole) && (heard.wait)() {
        end = read();
    }
    let words = end.and_then(|end| end.words);
    scene.stop(words.unwrap_or_default(), "", fields)
}

/// What the end of a session's log says at a stop.
struct Ending {
    /// The last words of the agent, if it said any since the last prompt and the last stop.
    words: Option<String>,
    /// The log has got as far as this stop: nothing more is to come.
    is_whole: bool,
}

/// Reads the end of a session's log. The first line may be torn and is then not JSON.
fn ending(tail: &str, stopped: Option<Millis>) -> Ending {
    const TELLING: [&str; 3] = ["\"assistant.message\"", "\"user.message\"", "\"agentStop\""];
    let mut is_whole = false;
    for line in tail.lines().rev() {
        // Most lines are none of these, and can be long.
        if !TELLING.iter().any(|name| line.contains(name)) {
            continue;
        }
        let Ok(Value::Object(record)) = serde_json::from_str(line) else {
            continue;
        };
        let mut record = Fields::new(record);
        let at = stamp_of(&record.take("timestamp"));
        let mut about = record.object("data");
        match record.str("type") {
            Some("hook.start" | "hook.end") if about.str("hookType") == Some("agentStop") => {
                // The agent notes the time of the payload with the hooks that it runs.
                let noted = stamp_of(&about.object("input").take("timestamp")).or(at);
                if noted.is_some_and(|noted| stopped.is_some_and(|stopped| noted < stopped)) {
                    break; // What comes before it was said at another stop.
                }
                is_whole = true;
            }
            Some("user.message") => break,
            // A subagent's words belong to the tool call that it is.
            Some("assistant.message") if !about.has("parentToolCallId") => {
                let words = about.words("content");
                if !words.trim().is_empty() {
                    return Ending { words: Some(words), is_whole };
                }
            }
            _ => {}
        }
    }
    Ending { words: None, is_whole }
}
