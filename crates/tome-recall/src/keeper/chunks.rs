//! How a long text is cut into pieces that can be found by themselves.
//!
//! A piece ends after [`WORDS`] words, better a little earlier at the end of a line or sentence, and the
//! next one begins a few words before that, so that nothing said across the cut is lost. In scripts
//! without spaces every character counts as half a word. Pieces are cut between characters, and the
//! same text always gives the same pieces.

use tome_finder::Part;
use tome_text::{ends_sentence, is_unspaced};

/// The words of a piece, about.
const WORDS: usize = 120;
/// A text a little longer than a piece is not cut for a few words.
const WHOLE_WORDS: usize = 160;
/// The words that two pieces share.
const OVERLAP: usize = 15;
/// The bytes of a piece at most: logs and minified code have few spaces.
const BYTES_MAX: usize = 2_048;
/// Pieces of one text at most. An event is capped before it is stored, so this is far away.
const PIECES_MAX: usize = 1_024;

/// The pieces of a text, in order; none of an empty one.
pub(crate) fn chunks(text: &str) -> Vec<Part> {
    if let Some(whole) = whole(text) {
        return vec![whole];
    }
    pieces(text)
}

fn pieces(text: &str) -> Vec<Part> {
    let ends = word_ends(text);
    let mut parts = Vec::new();
    let (mut first, mut new) = (0, 0);
    while first < ends.len() && parts.len() < PIECES_MAX {
        let (from, last) = (start_of(&ends, first), last_of(text, &ends, first, new));
        let to = ends.get(last).map_or(text.len(), |end| end.to);
        parts.push(Part { from: cap(from), to: cap(to) });
        if last + 1 >= ends.len() {
            break;
        }
        new = last + 1;
        first = overlap_of(&ends, new).max(first + 1);
    }
    parts
}

/// The only piece of a text that is plainly short: most are, and need no list of their words.
fn whole(text: &str) -> Option<Part> {
    let from = text.len() - text.trim_start().len();
    let said = text.trim();
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
    // No text has more words than that: a long one counts for several.
    let words_max = match said.is_ascii() {
        true => said.bytes().filter(is_space).count() + 1 + said.len() / (BYTES_MAX / 4),
        false => said.chars().count(),
    };
    (!said.is_empty() && said.len() <= BYTES_MAX && words_max <= WHOLE_WORDS)
        .then(|| Part { from: cap(from), to: cap(from + said.len()) })
}

/// Where a piece begins so that it shares a little with the one before, which ends in front of `next`.
/// What it shares is short, so that it always goes beyond it.
fn overlap_of(words: &[Word], next: usize) -> usize {
    let end = start_of(words, next);
    let shared = words.get(..next).unwrap_or_default().iter().rev().take(OVERLAP);
    next - shared.take_while(|word| end - word.from <= BYTES_MAX / 8).count()
}

/// A word of the text.
struct Word {
    from: usize,
    to: usize,
    /// Words before it and itself, in halves.
    halves: usize,
}

fn start_of(words: &[Word], index: usize) -> usize {
    words.get(index).map_or(0, |word| word.from)
}

/// The last word of the piece that begins with the word `first`; `new` is in it, which no piece has yet.
fn last_of(text: &str, words: &[Word], first: usize, new: usize) -> usize {
    let (from, before) = words.get(first).map_or((0, 0), |word| (word.from, word.halves));
    let size = |word: &Word| (word.halves - before, word.to - from);
    let fits = |limit: usize| {
        let rest = words.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|word| {
            let (halves, bytes) = size(word);
            halves <= 2 * limit && bytes <= BYTES_MAX
        });
        first + count.count().max(1) - 1
    };
    let whole = fits(WHOLE_WORDS);
    if whole + 1 >= words.len() {
        return whole;
    }
    let last = fits(WORDS);
    let earliest = (first + (last - first) * 3 / 4).max(new);
    // A line's end is the best place to cut, a sentence's end the next best.
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

/// The words of a text: runs between spaces, cut where they are longer than a piece; each character
/// of a script without spaces is one.
fn word_ends(text: &str) -> Vec<Word> {
    let (mut words, mut halves) = (Vec::new(), 0);
    let mut open: Option<usize> = None;
    let mut close = |from: Option<usize>, to: usize, words: &mut Vec<Word>, weight: usize| {
        if let Some(from) = from {
            halves += weight;
            words.push(Word { from, to, halves });
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
            if end - from >= BYTES_MAX / 4 {
                close(open.take(), end, &mut words, 2);
            }
        }
    }
    close(open, text.len(), &mut words, 2);
    words
}

fn cap(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(text: &str, part: Part) -> &str {
        crate::keeper::cut(text, part)
    }

    #[test]
    fn a_short_text_is_one_piece() {
        assert_eq!(chunks("  go on \n"), [Part { from: 2, to: 7 }]);
        assert!(chunks(" \n").is_empty());
        let almost = "word ".repeat(WHOLE_WORDS);
        assert_eq!(chunks(&almost).len(), 1);
    }

    #[test]
    fn a_long_text_is_cut_at_the_end_of_a_line() {
        let line = "one two three four five six seven eight nine ten\n";
        let text = line.repeat(40);
        let parts = chunks(&text);
        assert!(parts.len() >= 3);
        for part in &parts {
            assert!(piece(&text, *part).ends_with("ten"), "{:?}", piece(&text, *part));
        }
    }

    #[test]
    fn scripts_without_spaces_are_cut_too() {
        let text = "航空服务创新峰会的持续时间是七个周。".repeat(60);
        let parts = chunks(&text);
        assert!(parts.len() > 3, "{}", parts.len());
        assert!(parts.iter().all(|part| piece(&text, *part).chars().count() <= 2 * WHOLE_WORDS));
    }

    proptest! {
        #[test]
        fn every_word_is_in_a_piece(text in "([a-z]{1,9}[ \n\x0b.]|\\PC| 航){0,400}", long in 0usize..3_000) {
            let text = format!("{text}{}", "x".repeat(long));
            let parts = chunks(&text);
            prop_assert_eq!(&parts, &pieces(&text));
            let mut covered = 0;
            for part in &parts {
                let said = piece(&text, *part);
                prop_assert!(!said.is_empty() && said.len() <= BYTES_MAX + 512);
                let between = text.get(covered.min(part.from as usize)..part.from as usize);
                prop_assert!(between.is_some_and(|between| between.trim().is_empty()));
                prop_assert!(part.to as usize > covered);
                covered = part.to as usize;
            }
            prop_assert!(text.get(covered..).is_some_and(|rest| rest.trim().is_empty()));
        }
    }
}
