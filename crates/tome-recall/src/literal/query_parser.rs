//! Parses a query into terms, quoted phrases, and the whole as one phrase.
//!
//! A term is a word, an identifier, a path, or a run in a script without spaces. Parts of an
//! identifier (`get`, `User`) and character pairs of a run count if the whole term does not occur.
//! A query that consists only of punctuation is searched as it is.

use std::ops::Range;

use tome_model::truncate_to;
use tome_text::{
    StopClass, collapse_whitespace, extends_grapheme, fold_char, fold_text, is_stop_word,
    is_unspaced, subwords,
};

use super::limits::{
    PARTS_MAX, PHRASE_BYTES_MAX, QUERY_BYTES_MAX, QUOTED_MAX, TERM_BYTES_MAX, TERMS_MAX,
};

/// A parsed query. All texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ParsedQuery {
    /// The whole query, with collapsed white space.
    pub phrase: Option<String>,
    /// Quoted phrases, with collapsed white space.
    pub quoted: Vec<String>,
    /// Unique terms in order.
    pub terms: Vec<ParsedTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedTerm {
    pub whole: String,
    /// Its parts; empty for a plain word.
    pub parts: Vec<String>,
    /// Whether it is a run in a script without spaces, which has no word boundaries.
    pub unspaced: bool,
}

pub(super) fn parse_query(query: &str) -> ParsedQuery {
    let query: String =
        query.chars().map(|c| if c.is_control() { ' ' } else { c }).take(QUERY_BYTES_MAX).collect();
    let query = truncate_to(&query, QUERY_BYTES_MAX);
    let (plain, quoted) = split_quoted(query);
    let whole = build_phrase(&plain, query.len() < QUERY_BYTES_MAX);
    ParsedQuery { phrase: whole, quoted, terms: collect_terms(&plain) }
}

/// Separates the quoted phrases from the query. A quote opens before a word and closes after one;
/// other quotes are plain characters.
fn split_quoted(query: &str) -> (String, Vec<String>) {
    let (mut plain, mut quoted) = (String::with_capacity(query.len()), Vec::new());
    let mut rest = query;
    while let Some((before, inside, after)) = find_quoted(rest) {
        let phrase = collapse_whitespace(&fold_text(inside));
        if quoted.len() < QUOTED_MAX && !phrase.is_empty() && phrase.len() <= PHRASE_BYTES_MAX {
            quoted.push(phrase);
        }
        plain.extend([before, " ", inside, " "]);
        rest = after;
    }
    plain.push_str(rest);
    (plain, quoted)
}

fn find_quoted(text: &str) -> Option<(&str, &str, &str)> {
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let close = match c {
            '"' => Some('"'),
            '“' | '„' => Some('”'),
            '«' => Some('»'),
            '「' => Some('」'),
            _ => None,
        };
        let opens = previous.is_whitespace() || matches!(previous, '(' | '[' | ':' | ',' | '=');
        if let Some(close) = close.filter(|_| opens || c == '「') {
            let (before, from) = text.split_at_checked(at)?;
            let from = from.get(c.len_utf8()..)?;
            let ends = |(_, found): &(usize, char)| *found == close || (c == '„' && *found == '“');
            if let Some((end, mark)) = from.char_indices().find(ends) {
                let (inside, after) = (from.get(..end)?, from.get(end + mark.len_utf8()..)?);
                let closes = after.chars().next().is_none_or(|next| !next.is_alphanumeric());
                if (closes || c == '「') && !inside.trim().is_empty() {
                    return Some((before, inside, after));
                }
            }
        }
        previous = c;
    }
    None
}

/// The whole query as a phrase, without sentence-ending punctuation.
fn build_phrase(plain: &str, is_whole: bool) -> Option<String> {
    let phrase = collapse_whitespace(&fold_text(plain));
    let is_sentence = phrase.contains(' ') && phrase.contains(char::is_alphanumeric);
    let phrase = if is_sentence {
        phrase.trim_end_matches(['?', '!', '.', '。', '？', '！', ' ']).to_owned()
    } else {
        phrase
    };
    (is_whole && !phrase.is_empty() && phrase.len() <= PHRASE_BYTES_MAX).then_some(phrase)
}

fn collect_terms(plain: &str) -> Vec<ParsedTerm> {
    let chunks =
        || plain.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '、' | '，'));
    let mut telling = UniqueTerms::default();
    let mut empty = UniqueTerms::default();
    for chunk in chunks().filter(|chunk| !chunk.is_empty()) {
        let terms = parse_chunk(chunk);
        if terms.is_empty() {
            empty.push(ParsedTerm {
                whole: cap_term(fold_text(chunk)),
                parts: Vec::new(),
                unspaced: false,
            });
        }
        for term in terms {
            let kept = if is_stop_word(&term.whole, StopClass::FUNCTION) {
                &mut empty
            } else {
                &mut telling
            };
            kept.push(term);
        }
    }
    let kept = if telling.0.is_empty() { empty } else { telling };
    if kept.0.is_empty() && !plain.trim().is_empty() {
        // Only commas.
        let whole = cap_term(collapse_whitespace(plain));
        return vec![ParsedTerm { whole, parts: Vec::new(), unspaced: false }];
    }
    kept.0
}

/// Unique terms, up to the limit.
#[derive(Default)]
struct UniqueTerms(Vec<ParsedTerm>);

impl UniqueTerms {
    fn push(&mut self, words: ParsedTerm) {
        let is_new = self.0.iter().all(|kept| kept.whole != words.whole);
        if is_new && self.0.len() < TERMS_MAX {
            self.0.push(words);
        }
    }
}

fn cap_term(whole: String) -> String {
    if whole.len() <= TERM_BYTES_MAX {
        return whole;
    }
    truncate_to(&whole, TERM_BYTES_MAX).to_owned()
}

/// Terms of a chunk between white space: runs in a script without spaces, and the text between
/// those as one term each.
fn parse_chunk(chunk: &str) -> Vec<ParsedTerm> {
    let mut found = Vec::new();
    let mut spaced: Vec<Range<usize>> = Vec::new();
    for piece in find_word_ranges(chunk) {
        let text = chunk.get(piece.clone()).unwrap_or_default();
        if text.starts_with(is_unspaced) {
            found.extend(build_compound_term(chunk, &std::mem::take(&mut spaced)));
            found.push(build_unspaced_term(text));
        } else {
            spaced.push(piece);
        }
    }
    found.extend(build_compound_term(chunk, &spaced));
    found
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || extends_grapheme(c)
}

/// Ranges of words: runs of letters and digits, split where the kind of script changes.
fn find_word_ranges(chunk: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut last: Option<bool> = None;
    for (at, c) in chunk.char_indices() {
        let sort = match c {
            c if !is_word_char(c) => None,
            c if extends_grapheme(c) && last.is_some() => last,
            c => Some(is_unspaced(c)),
        };
        let end = at + c.len_utf8();
        match ranges.last_mut() {
            Some(open) if sort.is_some() && sort == last => open.end = end,
            _ if sort.is_some() => ranges.push(at..end),
            _ => {}
        }
        last = sort;
    }
    ranges
}

/// Builds the term of an identifier, path or word: from its first piece to its last.
fn build_compound_term(chunk: &str, pieces: &[Range<usize>]) -> Vec<ParsedTerm> {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Vec::new() };
    let behind = chunk.get(last.end..).unwrap_or_default();
    let marks = behind.len() - behind.trim_start_matches(['+', '#']).len();
    let whole = chunk.get(first.start..last.end + marks).unwrap_or_default();
    let whole = whole.strip_suffix("'s").or(whole.strip_suffix("’s")).unwrap_or(whole);
    let mut parts: Vec<String> = Vec::new();
    for piece in pieces {
        for part in subwords(chunk.get(piece.clone()).unwrap_or_default()) {
            let part = cap_term(fold_text(part));
            if part.chars().nth(1).is_some() && !parts.contains(&part) && parts.len() < PARTS_MAX {
                parts.push(part);
            }
        }
    }
    let whole = fold_text(whole);
    parts.retain(|part| *part != whole);
    if whole.len() > TERM_BYTES_MAX && parts.len() > 1 {
        let alone = |whole| ParsedTerm { whole, parts: Vec::new(), unspaced: false };
        return parts.into_iter().map(alone).collect();
    }
    vec![ParsedTerm { whole: cap_term(whole), parts, unspaced: false }]
}

/// Builds the term of a run in a script without spaces, with its character pairs.
fn build_unspaced_term(text: &str) -> ParsedTerm {
    let chars: Vec<char> = text.chars().map(fold_char).collect();
    let mut parts: Vec<String> = Vec::new();
    if chars.len() > 2 {
        for pair in chars.windows(2) {
            let pair: String = pair.iter().collect();
            if !parts.contains(&pair) && parts.len() < PARTS_MAX {
                parts.push(pair);
            }
        }
    }
    ParsedTerm { whole: cap_term(chars.iter().collect()), parts, unspaced: true }
}
