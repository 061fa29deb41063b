//! The user's words in a rejected tool call. Agents pass them to the model as the result of the call:
//! the payload is a tool result, but the user wrote it.

use serde_json::Value;
use tome_model::{Event, EventKind, Tool, truncate_to};

/// Beginnings of results that agents write when a call was not allowed.
const REJECTED: [&str; 14] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
    "User denied",
    "User declined",
    "The user rejected",
    "The user denied",
    "The user declined",
    "rejected by user",
    "rejected by the user",
    "exec command rejected",
    "Permission to use",
    "Permission for this tool use was denied",
    "Plan rejected",
];

/// Bytes of a result before the user's words.
const LEAD_BYTES_MAX: usize = 600;

/// Texts after which agents put the user's words, in lower case: Claude Code, OpenCode, Gemini CLI.
const LEADS: [&str; 5] = [
    "the user said:",
    "with the following feedback:",
    "user feedback:",
    "feedback from the user:",
    "the user provided the following reason:",
];

/// Texts that agents add after the user's words.
const TRAILERS: [&str; 3] = [
    "\n\nNote: The user's next message may contain",
    "\n\nThe plan is stored at:",
    "\n\nRejected plan:",
];

/// Beginnings of Claude Code's own words in place of the user's, when they end its questions.
const WRITTEN_BY_AGENT: [&str; 2] = ["The user has indicated", "The user wants to clarify"];

/// Whether the result of a tool call begins like that of one that was not allowed.
pub(crate) fn begins_with_rejection(result: &str) -> bool {
    REJECTED.iter().any(|mark| result.starts_with(mark))
}

/// Returns what the user wrote when they rejected a tool call.
pub fn find_rejection_words(event: &Event) -> Option<&str> {
    let tool = event.tool.as_ref().filter(|_| event.kind == EventKind::ToolResult)?;
    let result = result_texts(tool, &event.text).find(|text| begins_with_rejection(text))?;
    let head = truncate_to(result, LEAD_BYTES_MAX).to_ascii_lowercase();
    let from = LEADS.iter().filter_map(|lead| Some(head.find(lead)? + lead.len())).min()?;
    let words = result.get(from..)?;
    let end = TRAILERS.iter().filter_map(|trailer| words.find(trailer)).min();
    let words = words.get(..end.unwrap_or(words.len()))?.trim();
    let is_agents = WRITTEN_BY_AGENT.iter().any(|start| words.starts_with(start));
    let words = Some(words).filter(|_| !is_agents)?;
    words.chars().any(char::is_alphanumeric).then_some(words)
}

/// The texts at the top of a tool's result.
fn result_texts<'a>(tool: &'a Tool, text: &'a str) -> impl Iterator<Item = &'a str> {
    let fields = tool.output.as_object().into_iter().flat_map(|fields| fields.values());
    let strings = tool.output.as_str().into_iter().chain(fields.filter_map(Value::as_str));
    strings.chain(std::iter::once(text)).map(str::trim_start)
}

/// The kind of an event by who wrote its text: a rejection in words is a message of the user.
pub fn authored_kind(event: &Event) -> EventKind {
    match find_rejection_words(event) {
        Some(_) => EventKind::UserMessage,
        None => event.kind,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tome_model::{Agent, EventId, Millis, Role, SessionId, Tool};

    use super::*;

    fn rejected(output: Value) -> Event {
        Event {
            id: EventId::parse("event-1").unwrap(),
            session: SessionId::parse("s").unwrap(),
            agent: Agent::parse("claude-code").unwrap(),
            kind: EventKind::ToolResult,
            role: Role::Tool,
            text: String::new(),
            tool: Some(Tool { name: "Edit".to_owned(), input: json!({}), output }),
            at: Millis(0),
            arrived: Millis(0),
            project: String::new(),
            cwd: String::new(),
            meta: std::iter::empty().collect(),
        }
    }

    #[test]
    fn words_of_a_rejection_are_found_in_the_formats_of_the_agents() {
        let claude = "The user doesn't want to proceed with this tool use. The tool use was \
            rejected (eg. if it was a file edit, the new_string was NOT written to the file). ";
        let note = "\n\nNote: The user's next message may contain a correction or preference.";
        for (output, words) in [
            (
                format!("{claude}To tell you how to proceed, the user said:\nuse tabs"),
                Some("use tabs"),
            ),
            (format!("{claude}The user said:\nuse tabs{note}"), Some("use tabs")),
            (
                format!("{claude}the user said:\nThe user wants to clarify these questions.{note}"),
                None,
            ),
            (format!("{claude}STOP what you are doing and wait for the user."), None),
            (
                "The user rejected permission to use this specific tool call with the following \
                 feedback: use tabs"
                    .to_owned(),
                Some("use tabs"),
            ),
            (
                "Plan rejected. User feedback: no new crate\n\nThe plan is stored at: /p.md"
                    .to_owned(),
                Some("no new crate"),
            ),
            ("In the meeting the user said: use tabs".to_owned(), None),
        ] {
            let event = rejected(json!(output));
            assert_eq!(find_rejection_words(&event), words, "{output}");
            let kind = if words.is_some() { EventKind::UserMessage } else { EventKind::ToolResult };
            assert_eq!(authored_kind(&event), kind);
        }
    }
}
