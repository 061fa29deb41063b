//! Gemini CLI's responses: Claude Code's format with its own event names. A stop is denied, and the
//! reason comes back as a prompt. Gemini CLI escapes angle brackets before the model sees them.

use serde_json::{Value, json};

use crate::agents::claude_code::response::additional_context;
use crate::agents::injection_point::InjectionPoint;

/// Gemini CLI documents no limit; this is the other agents' limit.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn build_response(point: InjectionPoint, text: &str) -> Option<Value> {
    match point {
        InjectionPoint::Start => Some(additional_context("SessionStart", text)),
        InjectionPoint::Prompt => Some(additional_context("BeforeAgent", text)),
        InjectionPoint::Tool { .. } => Some(additional_context("AfterTool", text)),
        InjectionPoint::Stop => Some(json!({"decision": "deny", "reason": text})),
        InjectionPoint::BeforeEdit | InjectionPoint::Subagent | InjectionPoint::Compaction => None,
    }
}
