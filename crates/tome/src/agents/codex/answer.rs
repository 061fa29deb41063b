//! Codex's responses: Claude Code's format, parsed strictly. Codex injects nothing if a response
//! contains an unknown key. It has no event for failed tools.

use serde_json::{Value, json};

use crate::agents::answer::Moment;
use crate::agents::claude_code::answer::context;

/// Codex moves text over 2,500 tokens (counted as four bytes each) into a file.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        Moment::Start => Some(context("SessionStart", text)),
        Moment::Prompt => Some(context("UserPromptSubmit", text)),
        Moment::Tool { failed: false } => Some(context("PostToolUse", text)),
        Moment::Stop => Some(json!({"decision": "block", "reason": text})),
        Moment::Tool { failed: true } | Moment::Compaction => None,
    }
}
