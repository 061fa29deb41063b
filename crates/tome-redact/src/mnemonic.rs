//! Wallet mnemonics: twelve or more consecutive words from the English BIP-39 list.
//!
//! The list lacks most words that sentences need (`the`, `and`, `of`, `is`), so prose hardly ever
//! has twelve of its words in a row. The checksum is not verified: a phrase with a typo still
//! reveals the secret.

use std::sync::LazyLock;

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, work};

/// Words of the shortest mnemonic.
const MNEMONIC_WORDS_MIN: usize = 12;
/// Length of the longest word in the list.
const MNEMONIC_WORD_BYTES_MAX: usize = 8;
/// Length of the blanks, commas, quotes and numbers between two words.
const WORD_GAP_BYTES_MAX: usize = 6;

/// The words in alphabetical order.
static WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("bip39_english.txt").split_ascii_whitespace().collect());

/// Length of the shortest mnemonic: twelve three-letter words.
const MNEMONIC_BYTES_MIN: usize = 4 * MNEMONIC_WORDS_MIN - 1;

/// Finds the mnemonics in a text.
pub(crate) fn find_mnemonics(hay: Haystack<'_>, cuts: &mut Vec<RedactionCut<'static>>) {
    let bytes = hay.0.as_bytes();
    let mut at = 0;
    // Searching backwards rejects most windows of source code after a few bytes.
    while let Some(window) = bytes.get(at..at + MNEMONIC_BYTES_MIN) {
        if let Some(offset) = window.iter().rposition(|b| !is_mnemonic_byte(*b)) {
            at += offset + 1;
            continue;
        }
        let end = hay.skip_while(at + MNEMONIC_BYTES_MIN, is_mnemonic_byte);
        find_in_range(hay, at, end, cuts);
        at = end;
    }
}

/// A lower-case letter, or a byte that may separate two words.
fn is_mnemonic_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || is_separator_byte(b)
}

/// Finds mnemonics in a range of lower-case letters and separators.
fn find_in_range(hay: Haystack<'_>, from: usize, to: usize, cuts: &mut Vec<RedactionCut<'static>>) {
    let mut start = from;
    let mut words = 0;
    let mut word_bytes = 0;
    let mut gap_bytes = 0;
    for (offset, b) in hay.slice(from, to).bytes().enumerate() {
        let at = from + offset;
        if b.is_ascii_lowercase() {
            if words == 0 && word_bytes == 0 {
                start = at;
            }
            word_bytes += 1;
            gap_bytes = 0;
            continue;
        }
        let is_word = (3..=MNEMONIC_WORD_BYTES_MAX).contains(&word_bytes);
        words += usize::from(is_word);
        gap_bytes += 1;
        if word_bytes > 0 && !is_word || gap_bytes > WORD_GAP_BYTES_MAX {
            if words >= MNEMONIC_WORDS_MIN {
                find_in_words(hay, start, at, cuts);
            }
            words = 0;
        }
        word_bytes = 0;
    }
    if words + usize::from(word_bytes > 0) >= MNEMONIC_WORDS_MIN {
        find_in_words(hay, start, to, cuts);
    }
}

fn is_separator_byte(b: u8) -> bool {
    b.is_ascii_digit()
        || matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'"' | b'\'' | b'.' | b')' | b'|')
}

/// Finds mnemonics in a sequence of words of plausible length.
fn find_in_words(hay: Haystack<'_>, from: usize, to: usize, cuts: &mut Vec<RedactionCut<'static>>) {
    let mut run = WordRun::default();
    let mut at = from;
    while at < to {
        let start = hay.skip_while(at, |b| !b.is_ascii_lowercase());
        let end = hay.skip_while(start, |b| b.is_ascii_lowercase());
        if start >= to {
            break;
        }
        work::count(1);
        match WORDS.binary_search(&hay.slice(start, end)) {
            Ok(number) => run.push(number, start, end),
            Err(_) => cuts.extend(run.take_mnemonic()),
        }
        at = end;
    }
    cuts.extend(run.take_mnemonic());
}

/// Consecutive words from the list.
#[derive(Default)]
struct WordRun {
    numbers: Vec<usize>,
    start: usize,
    end: usize,
}

impl WordRun {
    fn push(&mut self, number: usize, start: usize, end: usize) {
        if self.numbers.is_empty() {
            self.start = start;
        }
        self.end = end;
        self.numbers.push(number);
    }

    /// Resets the run and returns its cut if it is a mnemonic. At least two thirds of the words
    /// must be distinct, unlike in numbered names (`part1 part2 …`).
    fn take_mnemonic(&mut self) -> Option<RedactionCut<'static>> {
        let count = self.numbers.len();
        self.numbers.sort_unstable();
        self.numbers.dedup();
        let distinct = self.numbers.len();
        self.numbers.clear();
        (count >= MNEMONIC_WORDS_MIN && distinct * 3 >= count * 2).then(|| {
            RedactionCut::secret(self.start, self.end, "mnemonic", CutCertainty::KnownPrefix)
        })
    }
}
