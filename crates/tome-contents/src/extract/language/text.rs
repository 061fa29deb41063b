//! Text helpers: windows on long texts, excerpts, and plain text without Markdown.
//!
//! Borrowed results lie on character boundaries of the input.

use std::borrow::Cow;

use serde_json::Value;
use tome_model::{Event, last_bytes, truncate_to};
use tome_text::{first_chars, is_han_or_kana};

pub(crate) const EXCERPT_CHARS_MAX: usize = 200;
/// Strings of a tool's input or output that are read; the first rows show what an output is.
const STRINGS_MAX: usize = 64;

/// Collects the first strings of a JSON value, in document order.
pub(crate) fn collect_strings(value: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    push_strings(value, &mut found);
    found
}

fn push_strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    if found.len() >= STRINGS_MAX {
        return;
    }
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => {
            items.iter().take(STRINGS_MAX).for_each(|item| push_strings(item, found));
        }
        Value::Object(map) => {
            map.values().take(STRINGS_MAX).for_each(|item| push_strings(item, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the texts of a tool's output, then the event's own text.
pub(crate) fn output_texts(event: &Event) -> Vec<&str> {
    let mut texts =
        event.tool.as_ref().map(|tool| collect_strings(&tool.output)).unwrap_or_default();
    if !event.text.is_empty() {
        texts.push(&event.text);
    }
    texts
}

/// Returns the head and the tail of a text in whole lines, unless a line exceeds the window. The
/// tail is empty if the head is everything.
pub(crate) fn head_and_tail(text: &str, head_max: usize, tail_max: usize) -> [&str; 2] {
    if text.len() <= head_max + tail_max {
        return [text, ""];
    }
    let head = truncate_to(text, head_max);
    let head = head.rsplit_once('\n').map_or(head, |(whole, _)| whole);
    let tail = last_bytes(text, tail_max);
    [head, tail.split_once('\n').map_or(tail, |(_, whole)| whole)]
}

/// Returns the beginning of a text, trimmed to the length of an excerpt.
pub(crate) fn cut_excerpt(raw: &str) -> String {
    first_chars(raw.trim(), EXCERPT_CHARS_MAX).trim_end().to_owned()
}

/// Whether a text has Chinese or Japanese characters.
pub(crate) fn has_cjk(text: &str) -> bool {
    text.chars().any(is_han_or_kana)
}

/// Whether a text is mostly Chinese or Japanese.
pub(crate) fn is_mostly_cjk(text: &str) -> bool {
    let (mut wide, mut other) = (0, 0);
    for c in text.chars().take(400) {
        if is_han_or_kana(c) {
            wide += 1;
        } else if c.is_alphabetic() {
            other += 1;
        }
    }
    // A Latin word counts as about four Han characters.
    wide * 4 > other
}

/// Returns a text in lowercase, without a copy if it is already.
pub(crate) fn to_lower(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Strips a lowercase prefix, ignoring the case of the text. A prefix that ends with a letter must
/// be followed by a word boundary, except in scripts without spaces.
pub(crate) fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in prefix.chars() {
        let found = rest.next()?;
        let same = if found.is_ascii() {
            found.to_ascii_lowercase() == wanted
        } else {
            found.to_lowercase().eq(std::iter::once(wanted))
        };
        if found != wanted && !same {
            return None;
        }
    }
    let rest = rest.as_str();
    let last = prefix.chars().next_back()?;
    let open = last.is_alphanumeric()
        && !is_han_or_kana(last)
        && rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '’'));
    (!open).then_some(rest)
}

/// Strips the first of these prefixes that a text has; see [`strip_prefix_ignoring_case`].
pub(crate) fn strip_any_prefix<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes
        .iter()
        .filter(|prefix| may_begin_with(text, prefix))
        .find_map(|prefix| strip_prefix_ignoring_case(text, prefix))
}

/// Returns the text after one of these labels and its colon: `Verdict: approve`.
pub(crate) fn strip_label<'a>(text: &'a str, labels: &[&str]) -> Option<&'a str> {
    labels
        .iter()
        .filter(|label| may_begin_with(text, label))
        .find_map(|label| strip_prefix_ignoring_case(text, label)?.strip_prefix([':', '：']))
        .map(str::trim_start)
}

/// Whether a text begins with one of these prefixes.
pub(crate) fn begins_with_any(text: &str, prefixes: &[&str]) -> bool {
    strip_any_prefix(text, prefixes).is_some()
}

/// Rules out most prefixes by their first byte. Letters outside ASCII differ from their lowercase in
/// any byte.
pub(crate) fn may_begin_with(text: &str, prefix: &str) -> bool {
    let (Some(found), Some(wanted)) = (text.as_bytes().first(), prefix.as_bytes().first()) else {
        return true;
    };
    !found.is_ascii() || found.to_ascii_lowercase() == *wanted || found == wanted
}

/// Returns plain text: without terminal escapes, Markdown marks and repeated spaces.
pub(crate) fn plain_text(raw: &str) -> String {
    let bare = strip_terminal_escapes(raw);
    let mut text = String::with_capacity(bare.len());
    let bare = strip_leading_marks(bare.trim()).trim_start_matches(['→', '⇒', '➜', ' ']);
    for word in strip_links(bare).split_whitespace() {
        let marked = word.contains(['*', '~', '\\']);
        // Also the backticks that a shell would have run.
        let unmarked = marked.then(|| word.replace("**", "").replace("~~", "").replace("\\`", "`"));
        let word = unmarked.as_deref().map_or(word, strip_emphasis);
        if word.is_empty() || is_emoji(word) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        // Phrases are recognized by the plain apostrophe.
        text.extend(word.chars().map(|c| if c == '’' { '\'' } else { c }));
    }
    text
}

/// Removes `*` around a word; `*args` stays.
fn strip_emphasis(word: &str) -> &str {
    let inside = word.strip_prefix('*').and_then(|rest| {
        rest.strip_suffix('*')
            .or_else(|| rest.strip_suffix("*."))
            .or_else(|| rest.strip_suffix("*,"))
    });
    inside.filter(|inside| !inside.is_empty() && !inside.contains('*')).unwrap_or(word)
}

fn is_emoji(word: &str) -> bool {
    word.chars()
        .all(|c| matches!(u32::from(c), 0x2190..=0x2bff | 0xfe00..=0xfe0f | 0x1f000..=0x1faff))
        && !word.chars().any(|c| matches!(c, '→' | '←' | '⇒' | '≤' | '≥' | '≠' | '≈'))
}

/// Removes `# `, `- `, `* `, `> `, `1. `, `- [x] ` from the beginning of a line.
fn strip_leading_marks(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..4 {
        let before = rest;
        rest = rest.trim_start_matches('#').trim_start();
        for mark in ["- ", "* ", "+ ", "> ", "• ", "[ ] ", "[x] ", "· "] {
            rest = rest.strip_prefix(mark).unwrap_or(rest).trim_start();
        }
        let after_number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if after_number.len() < rest.len() && rest.len() - after_number.len() <= 2 {
            rest = after_number
                .strip_prefix(". ")
                .or_else(|| after_number.strip_prefix(')'))
                .or_else(|| after_number.strip_prefix("、"))
                .unwrap_or(rest);
        }
        if rest.len() == before.len() {
            break;
        }
    }
    rest
}

/// Replaces `[words](address)` by its words.
fn strip_links(text: &str) -> Cow<'_, str> {
    if !text.contains('[') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(words, address)| {
            let (_, behind) = address.split_once(')')?;
            (!words.contains(['[', '\n'])).then_some((words, behind))
        });
        out.push_str(before);
        rest = match link {
            Some((words, behind)) => {
                out.push_str(words);
                behind
            }
            None => {
                out.push('[');
                after
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Removes terminal escapes and other control characters.
pub(crate) fn strip_terminal_escapes(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next_if_eq(&'[').is_some() {
                // Parameters, then one final letter.
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else if is_kept(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns the first and the last `bytes_max` bytes, on character boundaries, without overlap.
pub(crate) fn first_and_last_bytes(text: &str, bytes_max: usize) -> [&str; 2] {
    let head = truncate_to(text, bytes_max);
    [head, last_bytes(text.get(head.len()..).unwrap_or_default(), bytes_max)]
}

/// Returns the first of these fields that holds a non-empty string.
pub(crate) fn find_text_field<'a, 'n, 's: 'n>(
    value: &'a Value,
    names: impl IntoIterator<Item = &'n &'s str>,
) -> Option<&'a str> {
    names
        .into_iter()
        .find_map(|name| value.get(name).and_then(Value::as_str))
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_found_in_any_case() {
        let prefixes = ["fix", "let's", "исправь", "请", "\u{e9}tat", "k"];
        for text in [
            "Fix it",
            "fixed",
            "LET'S go",
            "Исправь это",
            "请看",
            "État",
            "état",
            "\u{212a}",
            "",
            "z",
        ] {
            let one_by_one =
                prefixes.iter().find_map(|prefix| strip_prefix_ignoring_case(text, prefix));
            assert_eq!(strip_any_prefix(text, &prefixes), one_by_one, "{text}");
        }
        assert_eq!(strip_any_prefix("Fix it", &prefixes), Some(" it"));
        assert_eq!(strip_any_prefix("Исправь это", &prefixes), Some(" это"));
        assert_eq!(strip_any_prefix("fixed", &prefixes), None);
    }

    #[test]
    fn marks_are_stripped() {
        assert_eq!(
            plain_text("- **Fixed** the [lexer](a.md) *now* ~~not~~ 🎉"),
            "Fixed the lexer now not"
        );
        assert_eq!(plain_text("\u{1b}[31mred\u{1b}[0m  text"), "red text");
        assert_eq!(plain_text("plain *args"), "plain *args");
        assert_eq!(plain_text("gate it behind \\`review\\`"), "gate it behind `review`");
    }
}
