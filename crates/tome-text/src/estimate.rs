//! Estimates the number of tokens that a language model makes of a text.
//!
//! The price of a byte depends on its class and that of the byte before it: a letter after a letter
//! is cheap, a letter after anything else starts a word; a Chinese character is about one token, a
//! Cyrillic one about a third. A text costs the sum: no vocabulary, no allocation, one pass.
//!
//! Prices are 64ths of a token, set by hand to commonly reported figures for current tokenizers
//! (four to five English letters per token, three of code, one Chinese character, two to three
//! Cyrillic letters) and not fitted to any one of them. The cost of two texts together differs from
//! the sum of their costs only by the pair of bytes where they meet.

const UNITS_PER_TOKEN: u64 = 64;

const LOWER: u8 = 0;
const UPPER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 3;
const NEWLINE: u8 = 4;
const PUNCTUATION: u8 = 5;
/// First byte of an accented Latin letter, or of Greek.
const ACCENTED: u8 = 6;
const CYRILLIC: u8 = 7;
/// Hebrew, Arabic, Indic, Thai.
const OTHER_SCRIPT: u8 = 8;
/// Chinese, Japanese, Korean.
const CJK: u8 = 9;
/// Dashes, arrows, box drawing.
const SYMBOL: u8 = 10;
const EMOJI: u8 = 11;
/// Any byte of a character except its first.
const CONTINUATION: u8 = 12;
const CLASSES: usize = 16;

const BYTE_CLASSES: [u8; 256] = byte_classes();
const PRICES: [[u8; CLASSES]; CLASSES] = price_table();

/// Estimates the number of tokens of a text.
pub fn estimate_tokens(text: &str) -> u64 {
    units_to_tokens(token_units(text))
}

/// The estimate in 64ths of a token, which add up without rounding.
pub fn token_units(text: &str) -> u64 {
    let mut before = NEWLINE;
    let mut sum = 0_u64;
    for &byte in text.as_bytes() {
        let class = BYTE_CLASSES.get(usize::from(byte)).copied().unwrap_or(PUNCTUATION);
        let row = PRICES.get(usize::from(before)).and_then(|row| row.get(usize::from(class)));
        sum += u64::from(row.copied().unwrap_or(0));
        before = class;
    }
    sum
}

/// Converts tokens to 64ths of a token.
pub fn tokens_to_units(tokens: u64) -> u64 {
    tokens.saturating_mul(UNITS_PER_TOKEN)
}

/// Converts 64ths of a token to tokens, rounded up.
pub fn units_to_tokens(units: u64) -> u64 {
    units.div_ceil(UNITS_PER_TOKEN)
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where an index out of bounds is an error"
)]
const fn byte_classes() -> [u8; 256] {
    let mut classes = [PUNCTUATION; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x61..=0x7a => LOWER,
            0x41..=0x5a => UPPER,
            0x30..=0x39 => DIGIT,
            0x20 | 0x09 => SPACE,
            0x0a | 0x0d => NEWLINE,
            0x80..=0xbf => CONTINUATION,
            0xc0..=0xcf => ACCENTED,
            0xd0..=0xd4 => CYRILLIC,
            0xd5..=0xe1 => OTHER_SCRIPT,
            0xe2 | 0xef => SYMBOL,
            0xe3..=0xee => CJK,
            0xf0..=0xff => EMOJI,
            _ => PUNCTUATION,
        };
        byte += 1;
    }
    classes
}

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated at compile time, where an index out of bounds is an error"
)]
const fn price_table() -> [[u8; CLASSES]; CLASSES] {
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

/// Price of a byte after another one.
const fn price(before: u8, class: u8) -> u8 {
    match (before, class) {
        // A word continues.
        (LOWER | UPPER | CONTINUATION, LOWER) => 8,
        (UPPER, UPPER) => 22,
        // A word begins, including the space before it.
        (_, LOWER | UPPER) => 40,
        (DIGIT, DIGIT) => 22,
        (_, DIGIT) => 40,
        // The first space belongs to what follows; longer runs cost a few tokens at most.
        (SPACE, SPACE) => 2,
        (NEWLINE, SPACE) => 20,
        (_, SPACE) => 2,
        (NEWLINE, NEWLINE) => 6,
        (_, NEWLINE) => 36,
        (PUNCTUATION, PUNCTUATION) => 26,
        (_, PUNCTUATION) => 44,
        (LOWER | UPPER | CONTINUATION, ACCENTED) => 34,
        (_, ACCENTED) => 48,
        (CONTINUATION, CYRILLIC) => 20,
        (_, CYRILLIC) => 34,
        (CONTINUATION, OTHER_SCRIPT) => 32,
        (_, OTHER_SCRIPT) => 44,
        (_, CJK) => 60,
        (_, SYMBOL) => 64,
        (_, EMOJI) => 128,
        _ => 0,
    }
}

/// Thirds of a token that a character counts for in a budget.
fn budget_thirds(c: char) -> u64 {
    if c.is_ascii() { 1 } else { 3 }
}

/// A conservative estimate for budgets: three ASCII characters count as a token (prose has four per
/// token, code three), any other character as one token. As a sum over characters it allows cutting
/// a text exactly to a budget.
pub fn estimate_tokens_conservatively(text: &str) -> u64 {
    text.chars().map(budget_thirds).sum::<u64>().div_ceil(3)
}

/// Longest prefix of a text within a budget in thirds of a token.
pub fn head_within(text: &str, thirds: u64) -> &str {
    let mut spent = 0;
    let end = text.char_indices().find(|(_, c)| {
        spent += budget_thirds(*c);
        spent > thirds
    });
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default()
}

/// Longest suffix of a text within a budget in thirds of a token.
pub fn tail_within(text: &str, thirds: u64) -> &str {
    let mut spent = 0;
    let outside = text.char_indices().rev().find(|(_, c)| {
        spent += budget_thirds(*c);
        spent > thirds
    });
    let start = outside.map_or(0, |(at, c)| at + c.len_utf8());
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_script_counts_toward_a_budget() {
        for (text, tokens) in [("", 0), ("abcdef", 2), ("记忆", 2), ("é🦀a", 3)] {
            assert_eq!(estimate_tokens_conservatively(text), tokens, "{text}");
        }
    }

    proptest! {
        #[test]
        fn head_and_tail_keep_to_the_budget(text in "[a-zé日🎈 ]{0,60}", thirds in 0_u64..60) {
            for part in [head_within(&text, thirds), tail_within(&text, thirds)] {
                prop_assert!(estimate_tokens_conservatively(part) <= thirds.div_ceil(3));
                prop_assert!(part == text || estimate_tokens_conservatively(part) * 3 + 5 > thirds);
            }
            prop_assert!(text.starts_with(head_within(&text, thirds)));
            prop_assert!(text.ends_with(tail_within(&text, thirds)));
        }

        #[test]
        fn the_cost_of_two_texts_is_about_the_sum(a in "\\PC{0,200}", b in "[a-zA-Z0-9 \n日я]{0,200}") {
            let together = estimate_tokens(&format!("{a}{b}"));
            let apart = estimate_tokens(&a) + estimate_tokens(&b);
            prop_assert!(together.abs_diff(apart) <= 3, "{together} and {apart}");
            // More text never costs less, except for rounding.
            prop_assert!(together + 1 >= estimate_tokens(&a));
        }

        #[test]
        fn every_text_costs_at_least_one_token_and_at_most_two_per_byte(text in "\\PC{1,200}") {
            let tokens = estimate_tokens(&text);
            prop_assert!(tokens >= 1 || text.trim().is_empty());
            prop_assert!(tokens <= 2 * text.len() as u64);
        }
    }
}
