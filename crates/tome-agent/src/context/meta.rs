//! The usage note: tells a model how full its context window is.

use super::{Context, Unit};

pub(super) const OPEN: &str = "<context_meta>";

/// Usage in percent above which the note includes advice.
const HINT_FROM: u64 = 70;

/// Renders the window usage including `unit`, which is about to be added.
pub(super) fn text(context: &Context, unit: &Unit) -> String {
    let window = context.settings.window_tokens;
    let used = context.used() + unit.tokens();
    let percent = used.saturating_mul(100) / window.max(1);
    let mut lines = vec![
        OPEN.to_owned(),
        format!("tokens_used: {used} of {window} ({percent} %)"),
        format!("turns_in_view: {}", context.turns() + usize::from(unit.opens_turn())),
    ];
    let gone = &context.compacted;
    if gone.messages > 0 {
        lines.push(format!(
            "compacted: {} messages into {} notes (detail/compaction-*.md); recall_memory finds them",
            gone.messages, gone.times
        ));
    }
    if percent >= HINT_FROM {
        let hint = "hint: older turns will leave soon; write what must stay visible to overview.md";
        lines.push(hint.to_owned());
    }
    lines.push("</context_meta>".to_owned());
    lines.join("\n")
}
