//! Codex's responses: Claude Code's format, parsed strictly. Codex injects nothing if a response
//! contains an unknown key. It has no event for failed tools.

use serde_json::{Value, json};

use crate::agents::claude_code::response::additional_context;
use crate::agents::injection_point::InjectionPoint;

/// Codex moves text over 2,500 tokens (counted as four bytes each) into a file.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn build_response(point: InjectionPoint, text: &str) -> Option<Value> {
    match point {
        InjectionPoint::Start => Some(additional_context("SessionStart", text)),
        InjectionPoint::Prompt => Some(additional_context("UserPromptSubmit", text)),
        InjectionPoint::Tool { failed: false } => Some(additional_context("PostToolUse", text)),
        InjectionPoint::Subagent => Some(additional_context("SubagentStart", text)),
        InjectionPoint::Stop => Some(json!({"decision": "block", "reason": text})),
        InjectionPoint::BeforeEdit
        | InjectionPoint::Tool { failed: true }
        | InjectionPoint::Compaction => None,
    }
}
