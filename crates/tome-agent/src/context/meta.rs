//! What a model is told of its own context.

use super::{Context, Unit};

/// How it begins.
pub(super) const OPEN: &str = "<context_meta>";

/// From so many percent on it is told what to do about it.
const HINT_FROM: u64 = 70;

/// Usage of the window, with a unit that is about to be added.
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
            "compacted: {} messages in {} files detail/compaction-*.md, found with recall_memory",
            gone.messages, gone.times
        ));
    }
    if percent >= HINT_FROM {
        let hint =
            "hint: older turns leave soon; what has to stay in view belongs into overview.md";
        lines.push(hint.to_owned());
    }
    lines.push("</context_meta>".to_owned());
    lines.join("\n")
}
