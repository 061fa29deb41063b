//! A shell call as an event, for the tests of this folder.

use serde_json::{Value, json};
use tome_model::{Agent, Event, EventId, EventKind, Millis, Role, SessionId, Tool};

/// Builds a shell call in a folder with this input, and no output but the exit code.
pub(crate) fn build_shell_event(cwd: &str, input: &Value, code: i64) -> Event {
    Event {
        id: EventId::parse("event-1").unwrap(),
        session: SessionId::parse("session-1").unwrap(),
        agent: Agent::parse("codex").unwrap(),
        kind: EventKind::ToolResult,
        role: Role::Tool,
        text: String::new(),
        tool: Some(Tool {
            name: "Bash".to_owned(),
            input: input.clone(),
            output: json!({ "stdout": "", "exitCode": code }),
        }),
        at: Millis(1),
        arrived: Millis(1),
        project: cwd.to_owned(),
        cwd: cwd.to_owned(),
        meta: serde_json::Map::default(),
    }
}
