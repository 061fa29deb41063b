//! Hook responses: when each agent accepts injected text, how much, and in which JSON shape.
//!
//! The agents differ in all three, and Codex discards a response that contains an unknown key. Each
//! agent therefore builds its own responses in its own folder; where an agent accepts no text the
//! hook prints nothing.

use serde_json::Value;
use tome_model::Agent;

use super::injection_point::InjectionPoint;
use super::{claude_code, codex, copilot, gemini, opencode};

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
