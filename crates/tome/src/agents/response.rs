//! Hook responses: when each agent accepts injected text, how much, and in which JSON shape.
//!
//! The agents differ in all three, and Codex discards a response that contains an unknown key. Each
//! agent therefore builds its own responses in its own folder; where an agent accepts no text the
//! hook prints nothing.

use serde_json::Value;
use tome_model::{Agent, Draft, EventKind};

use super::{claude_code, codex, copilot, gemini, opencode};

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

/// Returns the maximum text size an agent accepts at this point; 0 if it accepts none.
pub fn max_text_bytes(agent: &Agent, point: InjectionPoint) -> usize {
    // Derived from `build_response`, so that the two cannot disagree.
    let cap = match agent.as_str() {
        "claude-code" | "qwen" => claude_code::response::TEXT_BYTES_MAX,
        "codex" => codex::response::TEXT_BYTES_MAX,
        "gemini" => gemini::response::TEXT_BYTES_MAX,
        "copilot" => copilot::response::TEXT_BYTES_MAX,
        "opencode" => opencode::response::TEXT_BYTES_MAX,
        _ => 0,
    };
    if build_response(agent, point, "").is_some() { cap } else { 0 }
}

/// Builds the JSON a hook prints to inject `text`; `None` where the agent accepts none.
pub fn build_response(agent: &Agent, point: InjectionPoint, text: &str) -> Option<Value> {
    match agent.as_str() {
        // Qwen Code uses Claude Code's response format.
        "claude-code" | "qwen" => claude_code::response::build_response(point, text),
        "codex" => codex::response::build_response(point, text),
        "gemini" => gemini::response::build_response(point, text),
        "copilot" => copilot::response::build_response(point, text),
        "opencode" => opencode::response::build_response(point, text),
        // The behavior of an unknown agent on unexpected output is undefined, so print nothing.
        _ => None,
    }
}
