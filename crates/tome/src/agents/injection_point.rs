//! The points in a session at which agents may accept injected text.

use serde_json::Value;
use tome_model::{Draft, EventKind};

/// Points in a session at which an agent may accept injected text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectionPoint {
    /// Also when a session continues with an empty context.
    Start,
    Prompt,
    /// The agent is about to edit a file.
    BeforeEdit,
    Tool {
        /// Some agents report failures as a separate event.
        failed: bool,
    },
    /// The agent is about to stop; injected text makes it continue.
    Stop,
    /// The context is about to be compacted, or has just been.
    Compaction,
    /// A subagent starts; the text goes into its context.
    Subagent,
}

impl InjectionPoint {
    /// Maps an event to its injection point; `None` for events that accept no text and for those of
    /// subagents after their start.
    pub fn from_draft(draft: &Draft) -> Option<Self> {
        let is = |name: &str| draft.meta.get(name) == Some(&Value::Bool(true));
        match draft.kind {
            EventKind::SubagentStart => return Some(Self::Subagent),
            _ if draft.meta.contains_key("subagent") => return None,
            _ => {}
        }
        match draft.kind {
            EventKind::SessionStart => Some(Self::Start),
            EventKind::UserMessage => Some(Self::Prompt),
            EventKind::ToolResult => Some(Self::Tool { failed: is("failed") }),
            EventKind::AssistantStop if !is("failed") => Some(Self::Stop),
            EventKind::Compaction => Some(Self::Compaction),
            _ => None,
        }
    }
}
