//! Splits a text into words, keeping the punctuation around them.
//!
//! A word is the text between spaces without sentence punctuation. Other characters stay part of
//! it, so that `today()`, `march.rs`, `v2026-11-14` and `/last` are not time words.

use std::ops::Range;

/// A word of a text.
#[derive(Debug)]
pub(super) struct PhraseToken {
    /// Lowercased, without punctuation and without an ending such as `'s`.
    pub word: String,
    /// Byte range, including its ending.
    pub range: Range<usize>,
    /// Whether punctuation directly precedes it.
    pub opens: bool,
    pub tail: TrailingPunctuation,
}

/// The punctuation directly after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrailingPunctuation {
    /// None.
    Open,
    /// A comma: a date may continue.
    Comma,
    /// A full stop, which may belong to an abbreviation: `Nov. 14`.
    Dot,
    /// The end of a phrase.
    Stop,
}

const LEADING_PUNCTUATION: &[char] = &['(', '[', '{', '"', '\'', '“', '‘', '«', '„', '¿', '¡'];
const TRAILING_CHARS: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '”', '’', '»', '…', '。', '，', '、',
    '！', '？', '；', '：',
];
/// Possessive endings: `yesterday's plan`.
const POSSESSIVE_ENDINGS: &[&str] = &["'s", "’s"];

/// Splits a text into words, in order.
pub(super) fn tokenize(text: &str) -> Vec<PhraseToken> {
    let mut tokens: Vec<PhraseToken> = Vec::new();
    for (start, piece) in split_pieces(text) {
        let led = piece.trim_start_matches(LEADING_PUNCTUATION);
        let core = led.trim_end_matches(TRAILING_CHARS);
        let Some(after) = led.get(core.len()..) else { continue };
        if core.is_empty() {
            if let Some(last) = tokens.last_mut() {
                last.tail = TrailingPunctuation::Stop;
            }
            continue;
        }
        let start = start + (piece.len() - led.len());
        let word = POSSESSIVE_ENDINGS.iter().find_map(|ending| core.strip_suffix(ending));
        let tail = match after {
            _ if word.is_some() => TrailingPunctuation::Stop,
            "" => TrailingPunctuation::Open,
            "," => TrailingPunctuation::Comma,
            "." => TrailingPunctuation::Dot,
            _ => TrailingPunctuation::Stop,
        };
        tokens.push(PhraseToken {
            word: word.unwrap_or(core).to_lowercase(),
            range: start..start + core.len(),
            opens: led.len() < piece.len(),
            tail,
        });
    }
    tokens
}

/// Splits at whitespace; long dashes are pieces of their own.
fn split_pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '–' | '—')).flat_map(
        move |part| {
            let start = at;
            at += part.len();
            let body = part.trim_end_matches(['–', '—']);
            let dash = part.get(body.len()..).unwrap_or_default();
            [(start, body.trim_end()), (start + body.len(), dash)]
                .into_iter()
                .filter(|(_, piece)| !piece.is_empty())
        },
    )
}
