//! How many tokens a text has, about: an estimate from its bytes.
//!
//! Tokenizers of language models cut text into words and pieces of words. What a piece costs
//! depends on what kind of character begins it and what goes on with it: a letter behind a letter
//! is cheap, a letter behind something else begins a word; a Chinese character is about a token of
//! its own, a Cyrillic one about a third. So every byte has a class, every pair of classes a price,
//! and a text costs the sum. No vocabulary, no allocation, one pass over the bytes.
//!
//! Prices are 64ths of a token. They are set by hand so that whole texts come out near what is
//! commonly told of today's tokenizers (four to five letters of English a token, three of code, one
//! Chinese character, two to three Cyrillic letters); they have not been fitted to any one of them.
//! Segments need no more than that: a few percent either way move a cut by an event. What two texts cost together differs from what they cost apart only
//! by the one pair where they meet.

/// A 64th of a token.
const UNIT: u64 = 64;

const LOWER: u8 = 0;
const UPPER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 3;
const LINE: u8 = 4;
const MARK: u8 = 5;
/// The first byte of a letter with an accent, and of Greek.
const LATIN: u8 = 6;
const CYRILLIC: u8 = 7;
/// Hebrew, Arabic, Indic, Thai.
const SCRIPT: u8 = 8;
/// Chinese, Japanese, Korean.
const WIDE: u8 = 9;
/// Dashes, arrows, boxes.
const SIGN: u8 = 10;
const EMOJI: u8 = 11;
/// Any byte of a character but its first.
const TAIL: u8 = 12;
const CLASSES: usize = 16;

const CLASS: [u8; 256] = classes();
const PRICE: [[u8; CLASSES]; CLASSES] = prices();

/// How many tokens a text has, about.
pub fn estimate_tokens(text: &str) -> u64 {
    units(text).div_ceil(UNIT)
}

/// The same in 64ths of a token, for adding up.
pub(crate) fn units(text: &str) -> u64 {
    let mut before = LINE;
    let mut sum = 0_u64;
    for &byte in text.as_bytes() {
        let class = CLASS.get(usize::from(byte)).copied().unwrap_or(MARK);
        let row = PRICE.get(usize::from(before)).and_then(|row| row.get(usize::from(class)));
        sum += u64::from(row.copied().unwrap_or(0));
        before = class;
    }
    sum
}

/// What some tokens are in 64ths.
pub(crate) fn units_in(tokens: u64) -> u64 {
    tokens.saturating_mul(UNIT)
}

/// What some 64ths are in tokens.
pub(super) fn whole(units: u64) -> u64 {
    units.div_ceil(UNIT)
}

#[expect(clippy::indexing_slicing, reason = "worked out by the compiler, which checks it")]
const fn classes() -> [u8; 256] {
    let mut classes = [MARK; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x61..=0x7a => LOWER,
            0x41..=0x5a => UPPER,
            0x30..=0x39 => DIGIT,
            0x20 | 0x09 => SPACE,
            0x0a | 0x0d => LINE,
            0x80..=0xbf => TAIL,
            0xc0..=0xcf => LATIN,
            0xd0..=0xd4 => CYRILLIC,
            0xd5..=0xe1 => SCRIPT,
            0xe2 | 0xef => SIGN,
            0xe3..=0xee => WIDE,
            0xf0..=0xff => EMOJI,
            _ => MARK,
        };
        byte += 1;
    }
    classes
}

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "worked out by the compiler, which checks it"
)]
const fn prices() -> [[u8; CLASSES]; CLASSES] {
    let mut prices = [[0; CLASSES]; CLASSES];
    let mut before = 0;
    while before < CLASSES {
        let mut class = 0;
        while class < CLASSES {
            prices[before][class] = price(before as u8, class as u8);
            class += 1;
        }
        before += 1;
    }
    prices
}

/// What a byte costs behind another one.
const fn price(before: u8, class: u8) -> u8 {
    match (before, class) {
        // A word goes on. Behind a capital it has just begun.
        (LOWER | UPPER | TAIL, LOWER) => 8,
        (UPPER, UPPER) => 22,
        // A word begins; the space before it is part of it.
        (_, LOWER | UPPER) => 40,
        (DIGIT, DIGIT) => 22,
        (_, DIGIT) => 40,
        // The first space belongs to what follows; a longer stretch is a few tokens at most.
        (SPACE, SPACE) => 2,
        (LINE, SPACE) => 20,
        (_, SPACE) => 2,
        (LINE, LINE) => 6,
        (_, LINE) => 36,
        (MARK, MARK) => 26,
        (_, MARK) => 44,
        (LOWER | UPPER | TAIL, LATIN) => 34,
        (_, LATIN) => 48,
        (TAIL, CYRILLIC) => 20,
        (_, CYRILLIC) => 34,
        (TAIL, SCRIPT) => 32,
        (_, SCRIPT) => 44,
        (_, WIDE) => 60,
        (_, SIGN) => 64,
        (_, EMOJI) => 128,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_cost_together_what_they_cost_apart(a in "\\PC{0,200}", b in "[a-zA-Z0-9 \n日я]{0,200}") {
            let together = estimate_tokens(&format!("{a}{b}"));
            let apart = estimate_tokens(&a) + estimate_tokens(&b);
            prop_assert!(together.abs_diff(apart) <= 3, "{together} and {apart}");
            // More text never costs less, but for the rounding of one pair.
            prop_assert!(together + 1 >= estimate_tokens(&a));
        }

        #[test]
        fn no_text_is_free_and_no_byte_costs_more_than_two_tokens(text in "\\PC{1,200}") {
            let tokens = estimate_tokens(&text);
            prop_assert!(tokens >= 1 || text.trim().is_empty());
            prop_assert!(tokens <= 2 * text.len() as u64);
        }
    }
}
