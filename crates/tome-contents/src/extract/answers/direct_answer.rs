//! Direct answers: "Yes, …", and the labels before them.

use crate::extract::language::text::{begins_with_any, strip_label};

/// Whether a sentence answers a yes-or-no question.
pub(crate) fn answers_shortly(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "yes", "no", "correct", "exactly", "not yet", "partly", "partially", "mostly", "yep", "nope", "oui", "non", "sí", "sim", "não", "ja", "nein",
    ];
    #[rustfmt::skip]
    const WIDE: &[&str] = &[
        "可以", "不可以", "能", "不能", "是的", "不是", "对", "不对", "会", "不会", "没有", "有必要", "できます", "できません",
        "はい", "いいえ", "네", "아니요",
    ];
    begins_with_any(text, WORDS) || WIDE.iter().any(|word| text.starts_with(word))
}

/// Removes a label that only says that an answer follows: `Short answer: …`.
pub(crate) fn strip_plain_label(text: &str) -> &str {
    #[rustfmt::skip]
    const LABELS: &[&str] = &[
        "direct answer", "short answer", "the short answer", "answer", "bottom line", "in short", "tl;dr", "in one line",
        "the answer", "kurz", "kurze antwort", "en bref", "en resumen",
    ];
    let rest = strip_label(text, LABELS).map(str::trim_start);
    rest.filter(|rest| rest.chars().any(char::is_alphanumeric)).unwrap_or(text)
}
