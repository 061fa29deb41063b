//! Folding: maps different spellings of the same text to one form.
//!
//! [`fold_char`] maps one character to one, so that a match in the folded text can be located in
//! the original: it folds case, final sigma, the Turkish letters i, typographic quotes and hyphens,
//! and white space, but keeps accents. Terms of an index need no positions and are folded further:
//! to compatibility forms (full-width letters, ligatures) and to unaccented Latin letters. Accented
//! letters of other scripts stay, since they are separate letters there.

use std::borrow::Cow;
use std::cell::RefCell;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Returns the compatibility form (NFKC) of a text.
pub(crate) fn compatibility_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// Appends a character to a term in lower case and, if it is Latin, without its accent. Called
/// after splitting, because case marks the words of an identifier.
pub(crate) fn push_folded(c: char, term: &mut String) {
    if c.is_ascii() {
        term.push(c.to_ascii_lowercase());
    } else if is_latin(c) {
        decompose_canonical(c, |part| {
            if !is_combining_mark(part) {
                term.extend(part.to_lowercase().filter(|lower| !is_combining_mark(*lower)));
            }
        });
    } else if is_combining_mark(c) {
        // A separate accent on a Latin letter is dropped like a composed one.
        if !term.chars().next_back().is_some_and(|last| last.is_ascii() || is_latin(last)) {
            term.push(c);
        }
    } else if c == 'ς' {
        term.push('σ');
    } else {
        term.extend(c.to_lowercase());
    }
}

/// Whether a character is a non-ASCII Latin letter.
fn is_latin(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Folds a character.
pub fn fold_char(c: char) -> char {
    match c {
        c if c.is_ascii() => c.to_ascii_lowercase(),
        'İ' | 'ı' => 'i',
        'ς' => 'σ',
        'ſ' => 's',
        'µ' => 'μ',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '‐' | '‑' => '-',
        // Scripts without case; most unspaced text is here.
        '\u{3001}'..='\u{a63f}' | '\u{ac00}'..='\u{d7ff}' => c,
        c if c.is_whitespace() => ' ',
        c => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => c,
            }
        }
    }
}

/// Folds every character of a text.
pub fn fold_text(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

/// A folded text with a mapping back to byte offsets of the original.
pub struct FoldedText<'a> {
    /// The folded text. ASCII letters keep their case: search it case-insensitively.
    pub text: &'a str,
    shifts: &'a [(usize, usize)],
}

impl FoldedText<'_> {
    /// Maps an offset in the folded text to the original.
    pub fn original_offset(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|(folded, _)| *folded <= at);
        match before.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((folded, origin)) => origin + (at - folded),
            None => at,
        }
    }
}

/// Reused for every text on a thread.
#[derive(Default)]
struct FoldBuffer {
    text: String,
    /// Offsets in the folded text and in the original, after each character whose length changed.
    shifts: Vec<(usize, usize)>,
}

/// A larger buffer is freed after use.
const BUFFER_BYTES_MAX: usize = 1024 * 1024;

thread_local! {
    static BUFFER: RefCell<FoldBuffer> = RefCell::default();
}

/// Folds a text into a reused buffer and passes it to `search`. ASCII text is passed unchanged.
pub fn with_folded<T>(text: &str, search: impl FnOnce(&FoldedText<'_>) -> T) -> T {
    if text.is_ascii() {
        return search(&FoldedText { text, shifts: &[] });
    }
    // Taken, so that a nested call gets a buffer of its own.
    let mut buffer = BUFFER.take();
    buffer.fill(text);
    let result = search(&FoldedText { text: &buffer.text, shifts: &buffer.shifts });
    if buffer.text.capacity() <= BUFFER_BYTES_MAX {
        BUFFER.set(buffer);
    }
    result
}

impl FoldBuffer {
    fn fill(&mut self, text: &str) {
        self.text.clear();
        self.shifts.clear();
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, after) =
                rest.split_at_checked(ascii_prefix_len(rest)).unwrap_or((rest, ""));
            self.text.push_str(plain);
            let others = after.find(|c: char| c.is_ascii()).unwrap_or(after.len());
            let (others, after) = after.split_at_checked(others).unwrap_or((after, ""));
            let at = text.len() - after.len() - others.len();
            for (index, c) in others.char_indices() {
                let folded = fold_char(c);
                self.text.push(folded);
                if folded.len_utf8() != c.len_utf8() {
                    self.shifts.push((self.text.len(), at + index + c.len_utf8()));
                }
            }
            rest = after;
        }
    }
}

/// Length of a text's ASCII prefix.
fn ascii_prefix_len(text: &str) -> usize {
    const STEP: usize = 32;
    let whole = text.as_bytes().chunks(STEP).take_while(|chunk| chunk.is_ascii()).count();
    let from = (whole * STEP).min(text.len());
    let rest = text.as_bytes().iter().skip(from).take(STEP);
    from + rest.take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_quotes_and_spaces_are_folded() {
        assert_eq!(fold_text("İIı ΣΟΦΟΣ ς “a”‑’b’\u{3000}ſµÉ"), "iii σοφοσ σ \"a\"-'b' sμé");
    }

    #[test]
    fn terms_lose_case_and_latin_accents() {
        let term = |text: &str| {
            let mut term = String::new();
            compatibility_form(text).chars().for_each(|c| push_folded(c, &mut term));
            term
        };
        for (text, expected) in
            [("ＡＢ", "ab"), ("Ångström", "angstrom"), ("й", "й"), ("x\u{301}", "x"), ("ﬁ", "fi")]
        {
            assert_eq!(term(text), expected);
        }
    }

    proptest! {
        #[test]
        fn offsets_map_back_to_the_original(text in "[a-zA-Zéİßſ汉🦀\u{3000} ]{0,60}") {
            with_folded(&text, |folded| {
                for (at, c) in folded.text.char_indices() {
                    let original = text.get(folded.original_offset(at)..).and_then(|rest| rest.chars().next());
                    prop_assert_eq!(original.map(fold_char), Some(fold_char(c)));
                }
                Ok(())
            })?;
        }
    }
}
