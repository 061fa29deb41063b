//! A text as words, with what stands around them.
//!
//! A word is what stands between spaces, less the punctuation of sentences. Whatever else clings to a
//! word stays part of it, so that `today()`, `march.rs`, `v2026-11-14` and `/last` are no time words.

use std::ops::Range;

/// One word of a text.
#[derive(Debug)]
pub(super) struct Token {
    /// In small letters, without punctuation and without an ending such as `'s`.
    pub word: String,
    /// Where it stands, with its ending.
    pub range: Range<usize>,
    /// Whether punctuation stands right before it.
    pub opens: bool,
    /// What stands right after it.
    pub tail: Tail,
}

/// What stands right after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing but a space.
    Open,
    /// A comma: a date may go on.
    Comma,
    /// A full stop, which may belong to a short form: `Nov. 14`.
    Dot,
    /// The end of a phrase.
    Stop,
}

const BEFORE: &[char] = &['(', '[', '{', '"', '\'', '“', '‘', '«', '„', '¿', '¡'];
const AFTER: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '”', '’', '»', '…', '。', '，', '、',
    '！', '？', '；', '：',
];
/// Endings that make a word somebody's: `yesterday's plan`.
const ENDINGS: &[&str] = &["'s", "’s"];

/// The words of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (start, piece) in pieces(text) {
        let led = piece.trim_start_matches(BEFORE);
        let core = led.trim_end_matches(AFTER);
        let Some(after) = led.get(core.len()..) else { continue };
        if core.is_empty() {
            if let Some(last) = tokens.last_mut() {
                last.tail = Tail::Stop;
            }
            continue;
        }
        let start = start + (piece.len() - led.len());
        let word = ENDINGS.iter().find_map(|ending| core.strip_suffix(ending));
        let tail = match after {
            _ if word.is_some() => Tail::Stop,
            "" => Tail::Open,
            "," => Tail::Comma,
            "." => Tail::Dot,
            _ => Tail::Stop,
        };
        tokens.push(Token {
            word: word.unwrap_or(core).to_lowercase(),
            range: start..start + core.len(),
            opens: led.len() < piece.len(),
            tail,
        });
    }
    tokens
}

/// What stands between spaces; long dashes stand alone.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
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
