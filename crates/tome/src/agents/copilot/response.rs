//! Copilot CLI's responses: context at the top level. At a stop, a block with a reason makes it
//! continue, and the reason comes back as a prompt.

use serde_json::{Value, json};

use crate::agents::injection_point::InjectionPoint;

/// Copilot's limit after a tool is 10 KB.
pub(in crate::agents) const TEXT_BYTES_MAX: usize = 9_500;

pub(in crate::agents) fn build_response(point: InjectionPoint, text: &str) -> Option<Value> {
    match point {
        InjectionPoint::Start
        | InjectionPoint::Prompt
        | InjectionPoint::Tool { .. }
        | InjectionPoint::Subagent => Some(json!({"additionalContext": text})),
        InjectionPoint::Stop => Some(json!({"decision": "block", "reason": text})),
        // A failing hook of that kind would block the tool.
        InjectionPoint::BeforeEdit | InjectionPoint::Compaction => None,
    }
}
