//! Folding: what is written differently and meant the same.
//!
//! Compatibility forms first (full-width letters, ligatures, composed accents), on the whole text;
//! case and the accents of Latin letters last, on a term, because the humps of an identifier are seen
//! by its case. Accents of other scripts are letters of their own there, and stay.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::Folded;

/// The text in its compatibility form, composed.
pub(super) fn compatible(text: &str) -> Folded<'_> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// Adds what a character folds to: lower case, without the accent if it is Latin.
pub(super) fn push_folded(letter: char, onto: &mut String) {
    if letter.is_ascii() {
        onto.push(letter.to_ascii_lowercase());
    } else if is_latin(letter) {
        decompose_canonical(letter, |piece| {
            if !is_combining_mark(piece) {
                onto.extend(piece.to_lowercase().filter(|lower| !is_combining_mark(*lower)));
            }
        });
    } else if is_combining_mark(letter) {
        // An accent that no composed letter exists for goes like the composed ones do.
        if !onto.chars().next_back().is_some_and(|before| before.is_ascii() || is_latin(before)) {
            onto.push(letter);
        }
    } else if letter == 'ς' {
        onto.push('σ');
    } else {
        onto.extend(letter.to_lowercase());
    }
}

/// Letters of the Latin script beyond ASCII.
fn is_latin(letter: char) -> bool {
    matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}
