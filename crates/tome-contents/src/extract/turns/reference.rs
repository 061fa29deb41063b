//! Whether a text refers to its subject instead of naming it.

use crate::extract::language::terms::has_name;
use crate::extract::language::text::to_lower;

/// Whether a text refers to its subject ("fix it") instead of naming it.
pub(crate) fn refers_without_naming(text: &str) -> bool {
    !has_name(text) && points_elsewhere(text)
}

/// Whether a text has a word that stands for something said elsewhere.
fn points_elsewhere(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "it", "this", "them", "these", "those", "comment", "comments", "conflict", "conflicts",
        "feedback", "дело", "это", "das", "es",
    ];
    const WIDE: &[&str] = &["怎么回事", "看看", "直して", "調べて", "これ", "这个问题"];
    // A longer sentence names its subject.
    const WIDE_CHARS_MAX: usize = 16;
    let pointing = to_lower(text)
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .any(|word| WORDS.contains(&word));
    let is_short = || text.chars().nth(WIDE_CHARS_MAX).is_none();
    pointing || !text.is_ascii() && is_short() && WIDE.iter().any(|mark| text.contains(mark))
}

/// Whether a request names its subject by numbers only: "Investigate 3 and 7".
pub(crate) fn refers_by_number(text: &str) -> bool {
    let is_number = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
    };
    const NOUNS: [&str; 6] = ["item", "items", "comment", "comments", "point", "points"];
    let mut rest = text.split_whitespace().skip(1).skip_while(|word| NOUNS.contains(word));
    rest.next().is_some_and(|word| is_number(&word)) && !has_name(text)
}
