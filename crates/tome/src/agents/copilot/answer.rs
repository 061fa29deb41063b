//! Copilot CLI's answers: context at the top level only. At a stop, a block with a reason makes it go
//! on, and the reason comes back as a prompt.

use serde_json::{Value, json};

use crate::agents::answer::Moment;

/// After a tool it takes 10 KB.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

/// The answer that carries a text.
pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        Moment::Start | Moment::Prompt | Moment::Tool { .. } => {
            Some(json!({"additionalContext": text}))
        }
        Moment::Stop => Some(json!({"decision": "block", "reason": text})),
        Moment::Compaction => None,
    }
}
