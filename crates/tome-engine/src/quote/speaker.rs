//! The author of a recorded text, and how far it is trusted.

use tome_finder::Source;
use tome_model::EventKind;

use super::quote_line;
use tome_recall::RecallHit;

/// Characters shown of a tool's name.
const TOOL_CHARS_MAX: usize = 60;

/// Origin of a hit's text. In proactive hints, later variants never rank before earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Written by the user or the agent, or kept in a note.
    Own,
    /// A summary of a session, which may repeat tool output.
    Summary,
    /// Tool output: a web page, a file, a command. Anyone may have written it.
    Outside,
}

/// Names the author of a hit: `user`, `agent`, `tool output (WebFetch)`, or the kind of note.
pub fn speaker_of_hit(hit: &RecallHit) -> String {
    match (hit.source, hit.kind.parse::<EventKind>()) {
        (Source::Event | Source::Grip, Ok(kind)) => speaker(kind, hit.tool.as_deref()),
        (Source::Event, Err(_)) => "session transcript".to_owned(),
        (Source::Node | Source::Grip, _) => "summary".to_owned(),
        (Source::Note, _) => "project note".to_owned(),
        (Source::Detail, _) => "session note".to_owned(),
        (Source::Insight, _) => "lesson".to_owned(),
    }
}

/// Classifies a hit by the origin of its text.
pub fn standing_of_hit(hit: &RecallHit) -> Standing {
    match (hit.source, hit.kind.parse::<EventKind>()) {
        (Source::Note | Source::Detail | Source::Insight, _) => Standing::Own,
        (Source::Event | Source::Grip, Ok(EventKind::UserMessage)) => Standing::Own,
        (
            Source::Event | Source::Grip,
            Ok(EventKind::AssistantMessage | EventKind::AssistantStop),
        ) => Standing::Own,
        (Source::Node, _) => Standing::Summary,
        (Source::Event | Source::Grip, _) => Standing::Outside,
    }
}

fn speaker(kind: EventKind, tool: Option<&str>) -> String {
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
