//! Gemini CLI's answers: Claude Code's shape with its own names of events. A stop is denied, and the
//! reason comes back as a prompt. Angle brackets are escaped before the model sees them.

use serde_json::{Value, json};

use crate::agents::answer::Moment;
use crate::agents::claude_code::answer::context;

/// It names no bound; this is what the others take.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

/// The answer that carries a text.
pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        Moment::Start => Some(context("SessionStart", text)),
        Moment::Prompt => Some(context("BeforeAgent", text)),
        Moment::Tool { .. } => Some(context("AfterTool", text)),
        Moment::Stop => Some(json!({"decision": "deny", "reason": text})),
        Moment::Compaction => None,
    }
}
