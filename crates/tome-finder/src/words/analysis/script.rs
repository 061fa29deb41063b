//! What a character is good for in a text.

use unicode_normalization::char::is_combining_mark;

/// What a character is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of a word: a letter, a digit, a mark on one, an underscore.
    Word,
    /// Part of a run of a script that is written without spaces, or nearly so.
    Dense,
    /// Between the words of an identifier or a path; also ordinary punctuation.
    Joint,
    /// Between words.
    Gap,
}

/// What a character is good for.
pub(super) fn role(letter: char) -> Role {
    if letter.is_ascii() {
        return match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Role::Word,
            '.' | '/' | '\\' | ':' | '-' | '\'' => Role::Joint,
            _ => Role::Gap,
        };
    }
    if letter == '\u{2019}' {
        return Role::Joint;
    }
    if !letter.is_alphanumeric() && !is_combining_mark(letter) {
        return Role::Gap;
    }
    if is_dense(letter) { Role::Dense } else { Role::Word }
}

/// Whether a letter is of a script without spaces, or nearly so: Han, kana, Hangul; Thai, Lao, Burmese, Khmer.
pub fn is_dense(letter: char) -> bool {
    matches!(letter,
        '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{20000}'..='\u{3ffff}')
}
