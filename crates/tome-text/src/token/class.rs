//! The role of a character in a token.

use unicode_normalization::char::is_combining_mark;

use crate::script::is_unspaced;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Part of a word: a letter, a digit, a mark on one, an underscore.
    Word,
    /// Part of a run in a script that does not separate words by spaces.
    Unspaced,
    /// Joins the words of an identifier or a path; also ordinary punctuation.
    Joint,
    /// Separates words.
    Gap,
}

impl CharClass {
    pub(super) fn from_char(c: char) -> Self {
        if c.is_ascii() {
            return match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Self::Word,
                '.' | '/' | '\\' | ':' | '-' | '\'' => Self::Joint,
                _ => Self::Gap,
            };
        }
        if c == '\u{2019}' {
            return Self::Joint;
        }
        if !c.is_alphanumeric() && !is_combining_mark(c) {
            return Self::Gap;
        }
        if is_unspaced(c) { Self::Unspaced } else { Self::Word }
    }
}
