//! OpenCode's responses go to Tome's own plugin, which places the text: in the system prompt,
//! beside the prompt, after a tool's output, or in the compaction prompt. At a stop it submits the
//! reason as a prompt, once.

use serde_json::{Value, json};

use crate::agents::injection_point::InjectionPoint;

/// OpenCode documents no limit; this is the other agents' limit.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn build_response(point: InjectionPoint, text: &str) -> Option<Value> {
    match point {
        // OpenCode runs no hook for a failed tool, and its bus event comes too late.
        InjectionPoint::Tool { failed: true }
        | InjectionPoint::BeforeEdit
        | InjectionPoint::Subagent => None,
        InjectionPoint::Stop => Some(json!({"decision": "block", "reason": text})),
        _ => Some(json!({"context": text})),
    }
}
