//! Splits long texts into chunks.
//!
//! A chunk ends after about [`CHUNK_WORDS`] words, preferably at the end of a line or sentence.
//! Chunks overlap by a few words, so that nothing is lost at a boundary. In scripts without spaces,
//! each character counts as half a word. Splitting is deterministic and never inside a character.

use tome_finder::ByteRange;
use tome_text::{ends_sentence, is_unspaced};

/// Target size of a chunk in words.
const CHUNK_WORDS: usize = 120;
/// Texts up to this size are not split.
const SINGLE_CHUNK_WORDS_MAX: usize = 160;
/// Number of words that two chunks share.
const OVERLAP_WORDS: usize = 15;
/// Maximum size of a chunk in bytes: logs and minified code have few spaces.
const CHUNK_BYTES_MAX: usize = 2_048;
/// Maximum number of chunks per text. Never reached in practice, because events are capped before
/// they are stored.
const CHUNKS_MAX: usize = 1_024;

/// Splits a text into chunks, in order. Empty for a blank text.
pub(crate) fn split_chunks(text: &str) -> Vec<ByteRange> {
    if let Some(chunk) = single_chunk(text) {
        return vec![chunk];
    }
    split_long_text(text)
}

fn split_long_text(text: &str) -> Vec<ByteRange> {
    let ends = split_words(text);
    let mut chunks = Vec::new();
    let (mut first, mut new) = (0, 0);
    while first < ends.len() && chunks.len() < CHUNKS_MAX {
        let (from, last) = (word_start(&ends, first), last_word(text, &ends, first, new));
        let to = ends.get(last).map_or(text.len(), |end| end.to);
        chunks.push(ByteRange { from: to_u32(from), to: to_u32(to) });
        if last + 1 >= ends.len() {
            break;
        }
        new = last + 1;
        first = overlap_start(&ends, new).max(first + 1);
    }
    chunks
}

/// Returns the only chunk of a text that is clearly short, without building a word list.
fn single_chunk(text: &str) -> Option<ByteRange> {
    let from = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
    // Upper bound, because a very long word counts as several.
    let words_max = if trimmed.is_ascii() {
        trimmed.bytes().filter(is_space).count() + 1 + trimmed.len() / (CHUNK_BYTES_MAX / 4)
    } else {
        trimmed.chars().count()
    };
    (!trimmed.is_empty() && trimmed.len() <= CHUNK_BYTES_MAX && words_max <= SINGLE_CHUNK_WORDS_MAX)
        .then(|| ByteRange { from: to_u32(from), to: to_u32(from + trimmed.len()) })
}

/// First word of the chunk that follows one ending before `next`. The overlap is short, so that
/// chunks always advance.
fn overlap_start(words: &[WordSpan], next: usize) -> usize {
    let end = word_start(words, next);
    let shared = words.get(..next).unwrap_or_default().iter().rev().take(OVERLAP_WORDS);
    next - shared.take_while(|word| end - word.from <= CHUNK_BYTES_MAX / 8).count()
}

struct WordSpan {
    from: usize,
    to: usize,
    /// Running total in half words, including this word.
    halves: usize,
}

fn word_start(words: &[WordSpan], index: usize) -> usize {
    words.get(index).map_or(0, |word| word.from)
}

/// Last word of the chunk that starts with word `first`. Always includes `new`, the first word that
/// is in no chunk yet.
fn last_word(text: &str, words: &[WordSpan], first: usize, new: usize) -> usize {
    let (from, before) = words.get(first).map_or((0, 0), |word| (word.from, word.halves));
    let size = |word: &WordSpan| (word.halves - before, word.to - from);
    let fits = |limit: usize| {
        let rest = words.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|word| {
            let (halves, bytes) = size(word);
            halves <= 2 * limit && bytes <= CHUNK_BYTES_MAX
        });
        first + count.count().max(1) - 1
    };
    let single_end = fits(SINGLE_CHUNK_WORDS_MAX);
    if single_end + 1 >= words.len() {
        return single_end;
    }
    let last = fits(CHUNK_WORDS);
    let earliest = (first + (last - first) * 3 / 4).max(new);
    // Prefer the end of a line, then the end of a sentence.
    let at = |ends: fn(&str, &str) -> bool| {
        (earliest..=last).rev().find(|index| match (words.get(*index), words.get(index + 1)) {
            (Some(word), Some(next)) => ends(
                text.get(word.from..word.to).unwrap_or_default(),
                text.get(word.to..next.from).unwrap_or_default(),
            ),
            _ => false,
        })
    };
    at(|_, gap| gap.contains('\n')).or_else(|| at(|word, _| ends_sentence(word))).unwrap_or(last)
}

/// Splits a text at white space. Overlong words are split further; each character of a script
/// without spaces is a word.
fn split_words(text: &str) -> Vec<WordSpan> {
    let (mut words, mut halves) = (Vec::new(), 0);
    let mut open: Option<usize> = None;
    let mut close = |from: Option<usize>, to: usize, words: &mut Vec<WordSpan>, weight: usize| {
        if let Some(from) = from {
            halves += weight;
            words.push(WordSpan { from, to, halves });
        }
    };
    for (at, char) in text.char_indices() {
        let end = at + char.len_utf8();
        if char.is_whitespace() {
            close(open.take(), at, &mut words, 2);
        } else if is_unspaced(char) {
            close(open.take(), at, &mut words, 2);
            close(Some(at), end, &mut words, 1);
        } else {
            let from = *open.get_or_insert(at);
            if end - from >= CHUNK_BYTES_MAX / 4 {
                close(open.take(), end, &mut words, 2);
            }
        }
    }
    close(open, text.len(), &mut words, 2);
    words
}

fn to_u32(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slice(text: &str, range: ByteRange) -> &str {
        crate::indexer::slice_text(text, range)
    }

    #[test]
    fn a_short_text_is_one_chunk() {
        assert_eq!(split_chunks("  go on \n"), [ByteRange { from: 2, to: 7 }]);
        assert!(split_chunks(" \n").is_empty());
        let almost = "word ".repeat(SINGLE_CHUNK_WORDS_MAX);
        assert_eq!(split_chunks(&almost).len(), 1);
    }

    #[test]
    fn a_long_text_is_cut_at_the_end_of_a_line() {
        let line = "one two three four five six seven eight nine ten\n";
        let text = line.repeat(40);
        let chunks = split_chunks(&text);
        assert!(chunks.len() >= 3);
        for chunk in &chunks {
            assert!(slice(&text, *chunk).ends_with("ten"), "{:?}", slice(&text, *chunk));
        }
    }

    #[test]
    fn scripts_without_spaces_are_cut_too() {
        let text = "航空服务创新峰会的持续时间是七个周。".repeat(60);
        let chunks = split_chunks(&text);
        assert!(chunks.len() > 3, "{}", chunks.len());
        assert!(
            chunks
                .iter()
                .all(|chunk| slice(&text, *chunk).chars().count() <= 2 * SINGLE_CHUNK_WORDS_MAX)
        );
    }

    proptest! {
        #[test]
        fn every_word_is_in_a_chunk(text in "([a-z]{1,9}[ \n\x0b.]|\\PC| 航){0,400}", long in 0usize..3_000) {
            let text = format!("{text}{}", "x".repeat(long));
            let chunks = split_chunks(&text);
            prop_assert_eq!(&chunks, &split_long_text(&text));
            let mut covered = 0;
            for chunk in &chunks {
                let chunk_text = slice(&text, *chunk);
                prop_assert!(!chunk_text.is_empty() && chunk_text.len() <= CHUNK_BYTES_MAX + 512);
                let between = text.get(covered.min(chunk.from as usize)..chunk.from as usize);
                prop_assert!(between.is_some_and(|between| between.trim().is_empty()));
                prop_assert!(chunk.to as usize > covered);
                covered = chunk.to as usize;
            }
            prop_assert!(text.get(covered..).is_some_and(|rest| rest.trim().is_empty()));
        }
    }
}
