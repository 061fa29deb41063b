//! Gemini CLI's responses: Claude Code's format with its own event names. A stop is denied, and the
//! reason comes back as a prompt. Gemini CLI escapes angle brackets before the model sees them.

use serde_json::{Value, json};

use crate::agents::answer::Moment;
use crate::agents::claude_code::answer::context;

/// Gemini CLI documents no limit; this is the other agents' limit.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        Moment::Start => Some(context("SessionStart", text)),
        Moment::Prompt => Some(context("BeforeAgent", text)),
        Moment::Tool { .. } => Some(context("AfterTool", text)),
        Moment::Stop => Some(json!({"decision": "deny", "reason": text})),
        Moment::Compaction => None,
    }
}
