//! Splits and joins sentences such that joined sentences can be split again.

use tome_text::{collapse_whitespace, finish_sentence, normalize_sentence};

/// Size at which `join_paragraphs` starts a new one: each join re-parses the whole paragraph.
const PARAGRAPH_BYTES_MAX: usize = 2_000;

/// Splits a text into sentences, each on one line.
pub(super) fn split_sentences(text: &str) -> Vec<String> {
    tome_text::split_sentences(text).into_iter().map(collapse_whitespace).collect()
}

/// Splits a text into normalized sentences.
pub(super) fn normalized_sentences(text: &str) -> Vec<String> {
    tome_text::split_sentences(text).into_iter().map(normalize_sentence).collect()
}

/// Joins sentences into paragraphs, starting a new one where two would merge (`… e.g.`).
pub(super) fn join_paragraphs(pieces: &[String]) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = finish_sentence(piece);
        let extendable = made.last().filter(|last| last.len() < PARAGRAPH_BYTES_MAX);
        let joined = extendable.and_then(|last| join_texts(last, &piece));
        match (made.last_mut(), joined) {
            (Some(last), Some(joined)) => *last = joined,
            _ => made.push(piece),
        }
    }
    made
}

/// Joins two texts; `None` if the result would not split into the same sentences.
pub(super) fn join_texts(text: &str, more: &str) -> Option<String> {
    let joined = format!("{text} {more}");
    let mut apart = normalized_sentences(text);
    apart.extend(normalized_sentences(more));
    (normalized_sentences(&joined) == apart).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_would_run_together_get_a_paragraph_each() {
        let pieces = ["Use locks, e.g.", "Release them", "Twice?"].map(str::to_owned);
        assert_eq!(join_paragraphs(&pieces), ["Use locks, e.g.", "Release them. Twice?"]);
    }
}
