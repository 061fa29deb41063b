//! Terms of a text with their byte ranges, for matching a bullet against its source.
//!
//! Words have more than three letters and are stemmed, so `tests` and `testing` match. Identifiers,
//! file names and numbers stay whole and weigh more: split into common words they would support
//! bullets wrongly. In scripts without spaces, each pair of adjacent characters is a term.

use tome_text::{StopClass, first_chars, is_stop_word, is_unspaced, stem};

/// Weights of terms.
const WORD_WEIGHT: u32 = 1;
const NUMBER_WEIGHT: u32 = 2;
const IDENTIFIER_WEIGHT: u32 = 3;

/// Characters of a stem that are compared.
const STEM_CHARS: usize = 6;

/// Words that are no evidence.
const IGNORED: StopClass = StopClass::FUNCTION.with(StopClass::FOREIGN).with(StopClass::GENERIC);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WeightedTerm {
    /// Normalized form for comparison.
    pub(super) key: String,
    pub(super) weight: u32,
    /// Start byte.
    pub(super) start: usize,
    /// End byte, exclusive.
    pub(super) end: usize,
}

/// Returns the terms of a text, in order.
pub(super) fn weighted_terms(text: &str) -> Vec<WeightedTerm> {
    let mut found = Vec::new();
    let mut word_start = None;
    let mut wide_before: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        if is_unspaced(c) {
            if let Some((start, before)) = wide_before {
                let key = [before, c].iter().collect();
                found.push(WeightedTerm {
                    key,
                    weight: WORD_WEIGHT,
                    start,
                    end: at + c.len_utf8(),
                });
            }
            wide_before = Some((at, c));
        } else {
            wide_before = None;
        }
        let in_word = !is_unspaced(c) && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        match (in_word, word_start) {
            (true, None) => word_start = Some(at),
            (false, Some(start)) => {
                push_word(text, start, at, &mut found);
                word_start = None;
            }
            _ => {}
        }
    }
    if let Some(start) = word_start {
        push_word(text, start, text.len(), &mut found);
    }
    found
}

fn push_word(text: &str, start: usize, end: usize, found: &mut Vec<WeightedTerm>) {
    let raw = text.get(start..end).unwrap_or_default();
    let word = raw.trim_matches(['-', '.']);
    let start = start + (raw.len() - raw.trim_start_matches(['-', '.']).len());
    if let Some((key, weight)) = term_key(word) {
        found.push(WeightedTerm { key, weight, start, end: start + word.len() });
    }
}

/// Returns a word's normalized form and weight; `None` for short words and stop words.
fn term_key(word: &str) -> Option<(String, u32)> {
    let lower = word.to_lowercase();
    if word.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return (lower.len() > 1).then_some((lower, NUMBER_WEIGHT));
    }
    let letters = word.chars().count();
    if is_identifier(word) {
        return (letters > 1).then_some((lower, IDENTIFIER_WEIGHT));
    }
    if letters <= 3 || is_stop_word(&lower, IGNORED) {
        return None;
    }
    Some((stem_prefix(&lower), WORD_WEIGHT))
}

/// A compound, or a word with a digit or an inner capital.
fn is_identifier(word: &str) -> bool {
    let capital_inside = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(before, after)| before.is_lowercase() && after.is_uppercase());
    capital_inside || word.contains(['_', '.']) || word.contains(|c: char| c.is_ascii_digit())
}

/// The beginning of a word's stem. Unstemmed languages mostly inflect at the end of words too.
fn stem_prefix(lower: &str) -> String {
    first_chars(&stem(lower), STEM_CHARS).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let found: Vec<String> = weighted_terms(text)
            .into_iter()
            .map(|term| format!("{}:{}", term.key, term.weight))
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn words_lose_their_endings_and_the_short_ones_go() {
        check("The parser was fixed with care", "parser:1 fix:1 care:1");
        check("tests testing tested test", "test:1 test:1 test:1 test:1");
        check("configuration configure", "config:1 config:1");
    }

    #[test]
    fn identifiers_and_numbers_stay_whole() {
        check("src/lexer.rs:45 XID_Start, camelCase.", "lexer.rs:3 45:2 xid_start:3 camelcase:3");
        check("HTTP 429 in v2 (E0502)", "http:1 429:2 v2:3 e0502:3");
    }

    #[test]
    fn scripts_without_blanks_are_read_by_twos() {
        check("修复解析器 done", "修复:1 复解:1 解析:1 析器:1 done:1");
        check("исправил парсер", "исправ:1 парсер:1");
    }

    proptest! {
        #[test]
        fn a_term_stands_where_it_says(text in "\\PC{0,200}") {
            for term in weighted_terms(&text) {
                prop_assert!(text.get(term.start..term.end).is_some_and(|part| !part.is_empty()));
            }
        }
    }
}
