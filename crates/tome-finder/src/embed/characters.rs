//! Normalization and pre-tokenization for the model: lower case, no accents, control characters or
//! white space; each punctuation mark and ideograph is a word of its own.

use unicode_normalization::UnicodeNormalization;

use super::ranges::{IDEOGRAPHS, LEFT_OUT, MARKS, PUNCTUATION};

/// Longer words are not in the vocabulary.
const WORD_CHARS_MAX: usize = 100;

pub(super) fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut word = Word::default();
    if text.is_ascii() {
        text.chars().for_each(|c| word.add(c, &mut take));
    } else {
        // Order matters: set ideographs apart before decomposition can turn one into another.
        let spaced = text.chars().filter(|c| !is_in(LEFT_OUT, *c)).flat_map(|c| {
            let space = is_in(IDEOGRAPHS, c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let bare = spaced.nfd().filter(|c| !is_in(MARKS, *c));
        bare.flat_map(char::to_lowercase).for_each(|c| word.add(c, &mut take));
    }
    word.end(&mut take);
}

#[derive(Default)]
struct Word {
    text: String,
    chars: usize,
}

impl Word {
    fn add(&mut self, c: char, take: &mut impl FnMut(&str)) {
        if c.is_ascii_alphanumeric() {
            self.push(c.to_ascii_lowercase());
        } else if is_in(LEFT_OUT, c) {
            // Reached only for ASCII text; otherwise they are filtered out above.
        } else if c.is_whitespace() {
            self.end(take);
        } else if is_in(PUNCTUATION, c) {
            self.end(take);
            self.push(c);
            self.end(take);
        } else {
            self.push(c);
        }
    }

    /// Counts characters beyond the maximum without storing them: a line of base64 is one word.
    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= WORD_CHARS_MAX {
            self.text.push(c);
        }
    }

    fn end(&mut self, take: &mut impl FnMut(&str)) {
        if (1..=WORD_CHARS_MAX).contains(&self.chars) {
            take(&self.text);
        }
        self.text.clear();
        self.chars = 0;
    }
}

fn is_in(ranges: &[u32], c: char) -> bool {
    let c = u32::from(c);
    // Bounds alternate first, last. `c` is inside if an odd number of bounds precede it, or if it
    // equals the next bound.
    let before = ranges.partition_point(|bound| *bound < c);
    !before.is_multiple_of(2) || ranges.get(before) == Some(&c)
}
