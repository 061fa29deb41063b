//! The author of a recorded text, and how far it is trusted.

use tome_finder::RecordKind;
use tome_model::EventKind;

use super::quote_line;
use tome_recall::RecallHit;

/// Characters shown of a tool's name.
const TOOL_CHARS_MAX: usize = 60;

/// Origin of a hit's text. In proactive hints, later variants never rank before earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HitOrigin {
    /// Written by the user or the agent, or kept in a note.
    Own,
    /// A summary of a session, which may repeat tool output.
    Summary,
    /// Tool output: a web page, a file, a command. Anyone may have written it.
    External,
}

/// Names the author of a hit: `user`, `agent`, `tool output (WebFetch)`, or the kind of note.
pub fn name_speaker(hit: &RecallHit) -> String {
    match (hit.source, hit.kind.parse::<EventKind>()) {
        (RecordKind::Event | RecordKind::Grip, Ok(kind)) => {
            name_event_speaker(kind, hit.tool.as_deref())
        }
        (RecordKind::Event, Err(_)) => "session transcript".to_owned(),
        (RecordKind::Node | RecordKind::Grip, _) => "summary".to_owned(),
        (RecordKind::Note, _) => "project note".to_owned(),
        (RecordKind::Detail, _) => "session note".to_owned(),
        (RecordKind::Lesson, _) => "lesson".to_owned(),
    }
}

/// Classifies a hit by the origin of its text.
pub fn classify_origin(hit: &RecallHit) -> HitOrigin {
    match (hit.source, hit.kind.parse::<EventKind>()) {
        (RecordKind::Note | RecordKind::Detail | RecordKind::Lesson, _) => HitOrigin::Own,
        (RecordKind::Event | RecordKind::Grip, Ok(EventKind::UserMessage)) => HitOrigin::Own,
        (
            RecordKind::Event | RecordKind::Grip,
            Ok(EventKind::AssistantMessage | EventKind::AssistantStop),
        ) => HitOrigin::Own,
        (RecordKind::Node, _) => HitOrigin::Summary,
        (RecordKind::Event | RecordKind::Grip, _) => HitOrigin::External,
    }
}

fn name_event_speaker(kind: EventKind, tool: Option<&str>) -> String {
    match (kind, tool) {
        (EventKind::UserMessage, _) => "user".to_owned(),
        (EventKind::AssistantMessage | EventKind::AssistantStop, _) => "agent".to_owned(),
        (EventKind::ToolResult, Some(tool)) => {
            format!("tool output ({})", quote_line(tool, TOOL_CHARS_MAX))
        }
        (EventKind::ToolResult, None) => "tool output".to_owned(),
        (kind, _) => kind.as_str().replace('_', " "),
    }
}
