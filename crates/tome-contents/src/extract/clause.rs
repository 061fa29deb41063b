//! Turns a sentence into a title: its first clause, in a few words.

use tome_text::{StopClass, is_stop_word, truncate_words};

use super::text::{begins_with_any, is_mostly_cjk};

/// Limits of a title: words, or characters in scripts without spaces.
const TITLE_WORDS_MAX: usize = 12;
const TITLE_CJK_CHARS_MAX: usize = 34;
const TITLE_CHARS_MAX: usize = 84;

/// Renders a request as a title: its first clause, 4 to 12 words, capitalized.
pub(super) fn render_title(text: &str) -> String {
    let asked = text.contains(['?', '？']);
    let bare = text.replace('`', "").replace("; ", ", ");
    let bare = bare.trim_end_matches([':', '.', ',', '。', '：', '，', '!', '！', ' ', ';']);
    let long = bare.split_whitespace().count() > TITLE_WORDS_MAX;
    let bare = &if long { strip_parenthesis(bare) } else { bare.to_owned() };
    let is_question = asked && is_question(bare);
    let bare = if is_question { bare } else { bare.trim_end_matches(['?', '？']) };
    let short =
        if is_mostly_cjk(bare) { first_cjk_clause(bare) } else { first_spaced_clause(bare) };
    capitalize(&truncate_words(&short, TITLE_CHARS_MAX))
}

/// Removes a parenthesis if enough words remain.
fn strip_parenthesis(text: &str) -> String {
    let Some((before, after)) = text.split_once(" (") else { return text.to_owned() };
    match after.split_once(')') {
        Some((_, rest)) if before.split_whitespace().count() >= 4 => {
            format!("{before}{rest}")
        }
        _ => text.to_owned(),
    }
}

pub(super) fn is_question(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "why", "how", "what", "where", "when", "which", "who", "is", "are", "does", "do", "did",
        "should", "can", "could", "was", "has", "почему", "как", "что", "где", "warum", "wie",
        "was",
    ];
    begins_with_any(text, WORDS) || is_mostly_cjk(text)
}

fn first_cjk_clause(text: &str) -> String {
    // A courtesy at the end, as in "…，帮我看看".
    let polite =
        ["，帮", "，请", "，麻烦", "，能不能"].iter().find_map(|mark| text.split_once(mark));
    let text = polite
        .map(|(before, _)| before)
        .filter(|before| before.chars().count() >= 8)
        .unwrap_or(text);
    if text.chars().count() <= TITLE_CJK_CHARS_MAX {
        return text.to_owned();
    }
    for (taken, (at, c)) in text.char_indices().enumerate() {
        if matches!(c, '，' | '。' | '；' | '：' | ',' | '、')
            && (8..=TITLE_CJK_CHARS_MAX).contains(&taken)
        {
            return text.get(..at).unwrap_or(text).to_owned();
        }
    }
    truncate_words(text, TITLE_CJK_CHARS_MAX)
}

fn first_spaced_clause(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let dash = words.iter().position(|word| matches!(*word, "-" | "–" | "—" | "->" | "=>"));
    if let Some(place) = dash.filter(|place| (4..=TITLE_WORDS_MAX).contains(place)) {
        return words.into_iter().take(place).collect::<Vec<_>>().join(" ");
    }
    if words.len() <= TITLE_WORDS_MAX {
        return words.join(" ");
    }
    #[rustfmt::skip]
    const BREAKS: &[&str] = &[
        "because", "but", "which", "since", "while", "so", "where", "when", "unless", "instead", "–",
        "—", "-",
        "чтобы", "потому", "weil", "damit", "e.g.", "such",
    ];
    for (place, word) in words.iter().enumerate().take(TITLE_WORDS_MAX + 1).skip(5) {
        let so_far: Vec<&str> = words.iter().take(place).copied().collect();
        let before = so_far.last().copied().unwrap_or_default();
        if !is_balanced(&so_far) {
            continue;
        }
        // An apposition ("Joseph, a fellow producer, …") does not end a clause.
        let apposed = matches!(*word, "a" | "an" | "the" | "who" | "which" | "who's");
        let comma = before.ends_with(',') && place >= 5 && !apposed;
        if comma
            || before.ends_with([';', ':', '.', '?'])
            || BREAKS.contains(&word.to_lowercase().as_str())
            || word.starts_with('(')
        {
            return words
                .iter()
                .take(place)
                .copied()
                .collect::<Vec<_>>()
                .join(" ")
                .trim_end_matches([',', ';', ':', '.'])
                .to_owned();
        }
    }
    let mut kept: Vec<&str> = words.into_iter().take(TITLE_WORDS_MAX).collect();
    // Rather one half of "do this and say "…"" than a cut in the middle of the quotation.
    let joint = kept.iter().rposition(|word| matches!(*word, "and" | "or" | "und"));
    if let Some(place) = joint.filter(|place| *place >= 5 && !is_balanced(&kept)) {
        kept.truncate(place);
        return kept.join(" ").trim_end_matches([',', ';', ':', '.']).to_owned();
    }
    while kept.len() > 4 && kept.last().is_some_and(|word| is_dangling(word)) {
        kept.pop();
    }
    format!("{}…", kept.join(" ").trim_end_matches([',', ';', ':', '.']))
}

/// Whether all quotes and parentheses are closed.
fn is_balanced(words: &[&str]) -> bool {
    let count = |mark: char| words.iter().map(|word| word.matches(mark).count()).sum::<usize>();
    count('"') % 2 == 0 && count('(') == count(')') && count('“') == count('”')
}

/// Whether a text cannot end with this word.
pub(super) fn is_dangling(word: &str) -> bool {
    is_stop_word(&word.to_lowercase(), StopClass::DANGLING)
}

/// Capitalizes a text unless it begins with an identifier.
pub(super) fn capitalize(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([':', ',', '.']);
    let name = first.contains(['_', '.', '/', '-', ':', '(', '['])
        || first.chars().skip(1).any(char::is_uppercase);
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if !name => c.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
