//! The usage note: shows a model how full its context window is.

use super::{ContextUnit, ContextWindow};

pub(super) const OPENING_TAG: &str = "<context_meta>";

/// Usage in percent above which the note includes advice.
const HINT_PERCENT: u64 = 70;

/// Renders the window usage including `unit`, which is about to be added.
pub(super) fn render(context: &ContextWindow, unit: &ContextUnit) -> String {
    let window = context.settings.window_tokens;
    let used = context.used_tokens() + unit.tokens();
    let percent = used.saturating_mul(100) / window.max(1);
    let mut lines = vec![
        OPENING_TAG.to_owned(),
        format!("tokens_used: {used} of {window} ({percent} %)"),
        format!("turns_in_view: {}", context.count_turns() + usize::from(unit.opens_turn())),
    ];
    let gone = &context.compacted;
    if gone.messages > 0 {
        lines.push(format!(
            "compacted: {} messages into {} notes (detail/compaction-*.md); recall_memory finds them",
            gone.messages, gone.compactions
        ));
    }
    if percent >= HINT_PERCENT {
        let hint = "hint: older turns will leave soon; write what must stay visible to overview.md";
        lines.push(hint.to_owned());
    }
    lines.push("</context_meta>".to_owned());
    lines.join("\n")
}
