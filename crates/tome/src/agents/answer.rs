//! What a hook may say to its agent: where each one takes text, how much, and in which JSON.
//!
//! The agents differ in all of it, and one of them throws an answer away that holds a key too many.
//! So each has its own answers, in its own folder, and where it takes nothing nothing is said.

use serde_json::Value;
use tome_model::{Agent, Draft, EventKind};

use super::{claude_code, codex, copilot, gemini, opencode};

/// The moments at which an agent may take text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session starts, or goes on with an empty context.
    Start,
    /// The person spoke.
    Prompt,
    /// A tool answered.
    Tool {
        /// Whether it failed: some agents have another event for that.
        failed: bool,
    },
    /// The agent is about to stop: text makes it go on.
    Stop,
    /// The context is about to be compacted, or was just now.
    Compaction,
}

impl Moment {
    /// The moment that an event is; none for events that take no text, and inside of subagents.
    pub fn of(draft: &Draft) -> Option<Self> {
        let is = |name: &str| draft.meta.get(name) == Some(&Value::Bool(true));
        if draft.meta.contains_key("subagent") {
            return None;
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

/// How many bytes of text an agent takes at a moment; 0: none.
pub fn bytes_max(agent: &Agent, moment: Moment) -> usize {
    // An answer says it: where there is none, there is no room either.
    let cap = match agent.as_str() {
        "claude-code" | "qwen" => claude_code::answer::TEXT_BYTES_MAX,
        "codex" => codex::answer::TEXT_BYTES_MAX,
        "gemini" => gemini::answer::TEXT_BYTES_MAX,
        "copilot" => copilot::answer::TEXT_BYTES_MAX,
        "opencode" => opencode::answer::TEXT_BYTES_MAX,
        _ => 0,
    };
    if answer(agent, moment, "").is_some() { cap } else { 0 }
}

/// What a hook prints so that its agent takes this text; `None` where it takes none.
pub fn answer(agent: &Agent, moment: Moment, text: &str) -> Option<Value> {
    match agent.as_str() {
        // Qwen Code speaks Claude Code's answers too.
        "claude-code" | "qwen" => claude_code::answer::answer(moment, text),
        "codex" => codex::answer::answer(moment, text),
        "gemini" => gemini::answer::answer(moment, text),
        "copilot" => copilot::answer::answer(moment, text),
        "opencode" => opencode::answer::answer(moment, text),
        // What an agent does with an answer that it does not know is not tried out on people.
        _ => None,
    }
}
