//! Normalization and pre-tokenization for the model: lower case, no accents, control characters or
//! white space; each punctuation mark and ideograph is a word of its own.

use unicode_normalization::UnicodeNormalization;

use super::char_ranges::{COMBINING_MARKS, IDEOGRAPHS, IGNORED, PUNCTUATION};

/// Longer words are not in the vocabulary.
const WORD_CHARS_MAX: usize = 100;

pub(super) fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut word = WordBuffer::default();
    if text.is_ascii() {
        text.chars().for_each(|c| word.push_char(c, &mut take));
    } else {
        // Order matters: set ideographs apart before decomposition can turn one into another.
        let spaced = text.chars().filter(|c| !is_in_ranges(IGNORED, *c)).flat_map(|c| {
            let space = is_in_ranges(IDEOGRAPHS, c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let bare = spaced.nfd().filter(|c| !is_in_ranges(COMBINING_MARKS, *c));
        bare.flat_map(char::to_lowercase).for_each(|c| word.push_char(c, &mut take));
    }
    word.finish(&mut take);
}

#[derive(Default)]
struct WordBuffer {
    text: String,
    chars: usize,
}

impl WordBuffer {
    fn push_char(&mut self, c: char, take: &mut impl FnMut(&str)) {
        if c.is_ascii_alphanumeric() {
            self.push_counted(c.to_ascii_lowercase());
        } else if is_in_ranges(IGNORED, c) {
            // Reached only for ASCII text; otherwise they are filtered out above.
        } else if c.is_whitespace() {
            self.finish(take);
        } else if is_in_ranges(PUNCTUATION, c) {
            self.finish(take);
            self.push_counted(c);
            self.finish(take);
        } else {
            self.push_counted(c);
        }
    }

    /// Counts characters beyond the maximum without storing them: a line of base64 is one word.
    fn push_counted(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= WORD_CHARS_MAX {
            self.text.push(c);
        }
    }

    fn finish(&mut self, take: &mut impl FnMut(&str)) {
        if (1..=WORD_CHARS_MAX).contains(&self.chars) {
            take(&self.text);
        }
        self.text.clear();
        self.chars = 0;
    }
}

fn is_in_ranges(ranges: &[u32], c: char) -> bool {
    let c = u32::from(c);
    // Bounds alternate first, last. `c` is inside if an odd number of bounds precede it, or if it
    // equals the next bound.
    let before = ranges.partition_point(|bound| *bound < c);
    !before.is_multiple_of(2) || ranges.get(before) == Some(&c)
}
