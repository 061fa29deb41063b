//! Codex's answers: Claude Code's, and strictly those. A key that it does not know, anywhere in them,
//! and it injects nothing at all. It has no event for tools that failed.

use serde_json::{Value, json};

use crate::agents::answer::Moment;
use crate::agents::claude_code::answer::context;

/// More than 2,500 tokens, which it counts as four bytes each, are put into a file.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

/// The answer that carries a text.
pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        Moment::Start => Some(context("SessionStart", text)),
        Moment::Prompt => Some(context("UserPromptSubmit", text)),
        Moment::Tool { failed: false } => Some(context("PostToolUse", text)),
        Moment::Stop => Some(json!({"decision": "block", "reason": text})),
        Moment::Tool { failed: true } | Moment::Compaction => None,
    }
}
