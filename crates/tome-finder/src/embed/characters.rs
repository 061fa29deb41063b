//! A text as the words that the model's tokenizer sees: lower-case, without accents, control
//! characters and space, with every punctuation mark and ideograph a word of its own.

use unicode_normalization::UnicodeNormalization;

use super::ranges::{IDEOGRAPHS, LEFT_OUT, MARKS, PUNCTUATION};

/// A longer word is nothing that the model knows.
const WORD_CHARS_MAX: usize = 100;

/// Gives every word of the text to `take`, in order.
pub(super) fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut word = Word::default();
    if text.is_ascii() {
        text.chars().for_each(|c| word.add(c, &mut take));
    } else {
        // The order matters: an ideograph is set apart before it may be decomposed into another.
        let spaced = text.chars().filter(|c| !is_in(LEFT_OUT, *c)).flat_map(|c| {
            let space = is_in(IDEOGRAPHS, c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let bare = spaced.nfd().filter(|c| !is_in(MARKS, *c));
        bare.flat_map(char::to_lowercase).for_each(|c| word.add(c, &mut take));
    }
    word.end(&mut take);
}

/// The word that is being read.
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
            // Only here for a text that is ASCII; of others they are gone by now.
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

    /// What is beyond the longest word is counted, not kept: a line of base64 is one word.
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

/// Whether a character lies in one of the ranges.
fn is_in(ranges: &[u32], c: char) -> bool {
    let c = u32::from(c);
    // The bounds in order: an odd number of them at or before `c` is inside; so is a last one itself.
    let before = ranges.partition_point(|bound| *bound < c);
    !before.is_multiple_of(2) || ranges.get(before) == Some(&c)
}
