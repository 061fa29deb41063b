//! OpenCode's answers go to Tome's own plugin, which puts the text where it belongs: into the system
//! prompt, beside the prompt, behind a tool's output, into what a compaction is told to keep. At a
//! stop it makes a prompt of the reason, once.

use serde_json::{Value, json};

use crate::agents::answer::Moment;

/// It names no bound; this is what the others take.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

/// The answer that carries a text.
pub(in crate::agents) fn answer(moment: Moment, text: &str) -> Option<Value> {
    match moment {
        // OpenCode runs no hook for a tool that failed; the bus tells of it too late.
        Moment::Tool { failed: true } => None,
        Moment::Stop => Some(json!({"decision": "block", "reason": text})),
        _ => Some(json!({"context": text})),
    }
}
