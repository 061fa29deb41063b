//! Looking at text without being drowned by it: windows on long texts, cutting, plain reading.
//!
//! Everything here but `plain` returns parts of what it was given, on character boundaries.

use serde_json::Value;
use tome_model::{Event, truncate_to};
use tome_text::{first_chars, is_han_or_kana};

/// An excerpt has at most so many characters.
pub(super) const EXCERPT_CHARS_MAX: usize = 200;
/// So many strings of one tool's input or output are looked at; an answer of thousands of rows
/// says in its first ones what it is.
const STRINGS_MAX: usize = 64;

/// The strings of a JSON value, in document order, the first ones of very many.
pub(super) fn strings(value: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    gather(value, &mut found);
    found
}

fn gather<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    if found.len() >= STRINGS_MAX {
        return;
    }
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().take(STRINGS_MAX).for_each(|item| gather(item, found)),
        Value::Object(map) => {
            map.values().take(STRINGS_MAX).for_each(|item| gather(item, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a tool answered, as texts.
pub(super) fn output_texts(event: &Event) -> Vec<&str> {
    let mut texts = event.tool.as_ref().map(|tool| strings(&tool.output)).unwrap_or_default();
    if !event.text.is_empty() {
        texts.push(&event.text);
    }
    texts
}

/// The head and the tail of a text; the tail is empty where the head is all of it. Whole lines,
/// unless one line is longer than the window.
pub(super) fn window(text: &str, head_max: usize, tail_max: usize) -> [&str; 2] {
    if text.len() <= head_max + tail_max {
        return [text, ""];
    }
    let head = truncate_to(text, head_max);
    let head = head.rsplit_once('\n').map_or(head, |(whole, _)| whole);
    let mut start = text.len() - tail_max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = text.get(start..).unwrap_or_default();
    [head, tail.split_once('\n').map_or(tail, |(_, whole)| whole)]
}

/// The verbatim beginning of a part of an event's text, as long as an excerpt may be.
pub(super) fn excerpt(raw: &str) -> String {
    first_chars(raw.trim(), EXCERPT_CHARS_MAX).trim_end().to_owned()
}

/// Whether a text is mostly Chinese or Japanese.
pub(super) fn mostly_wide(text: &str) -> bool {
    let (mut wide, mut other) = (0, 0);
    for c in text.chars().take(400) {
        if is_han_or_kana(c) {
            wide += 1;
        } else if c.is_alphabetic() {
            other += 1;
        }
    }
    // A word of Latin letters weighs about four characters of Han.
    wide * 4 > other
}

/// The rest of a text that begins so, whatever the case of its letters. A prefix that ends with a
/// letter has to be followed by the end of a word, except in scripts without spaces.
pub(super) fn strip_start<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in prefix.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(std::iter::once(wanted)) {
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

/// A line as a person reads it: without colour codes, Markdown's marks, and spaces in a row.
pub(super) fn plain(raw: &str) -> String {
    let bare = without_colours(raw);
    let mut text = String::with_capacity(bare.len());
    for word in unlinked(leading_marks_off(bare.trim())).split_whitespace() {
        let word = word.replace("**", "").replace("~~", "");
        let word = emphasis_off(&word);
        if word.is_empty() || is_picture(word) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Without `_` or `*` around a word; `__init__` and `*args` stay.
fn emphasis_off(word: &str) -> &str {
    let inside = word.strip_prefix('*').and_then(|rest| {
        rest.strip_suffix('*')
            .or_else(|| rest.strip_suffix("*."))
            .or_else(|| rest.strip_suffix("*,"))
    });
    inside.filter(|inside| !inside.is_empty() && !inside.contains('*')).unwrap_or(word)
}

fn is_picture(word: &str) -> bool {
    word.chars()
        .all(|c| matches!(u32::from(c), 0x2190..=0x2bff | 0xfe00..=0xfe0f | 0x1f000..=0x1faff))
        && !word.chars().any(|c| matches!(c, '→' | '←' | '⇒' | '≤' | '≥' | '≠' | '≈'))
}

/// `# `, `- `, `* `, `> `, `1. `, `- [x] ` at the beginning of a line.
fn leading_marks_off(line: &str) -> &str {
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
                .or_else(|| after_number.strip_prefix(") "))
                .or_else(|| after_number.strip_prefix("、"))
                .unwrap_or(rest);
        }
        if rest.len() == before.len() {
            break;
        }
    }
    rest
}

/// `[words](address)` becomes its words.
fn unlinked(text: &str) -> String {
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
    out
}

/// Without terminal escapes and other control characters.
pub(super) fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next_if_eq(&'[').is_some() {
                // Parameters, then one letter that ends it.
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else if !c.is_control() || matches!(c, '\n' | '\t') {
            out.push(c);
        }
    }
    out
}

/// The first and the last so many bytes, on character boundaries; the last is empty where the first
/// is all.
pub(super) fn truncated_pair(text: &str, bytes_max: usize) -> [&str; 2] {
    let head = truncate_to(text, bytes_max);
    let mut start = text.len().saturating_sub(bytes_max).max(head.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    [head, text.get(start..).unwrap_or_default()]
}
