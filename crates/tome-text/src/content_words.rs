//! Content words: those that say what a text is about.

use std::collections::BTreeSet;

use crate::{StopClass, is_stop_word, plain_words, stem};

/// Shorter words are mostly particles and single letters.
const CONTENT_CHARS_MIN: usize = 3;

/// Returns the content words of a text in order: lowercase, of three characters or more, and without
/// function words. To compare texts, use [`content_stems`].
pub fn content_words(text: &str) -> impl Iterator<Item = String> {
    plain_words(text).filter(|word| {
        word.chars().count() >= CONTENT_CHARS_MIN && !is_stop_word(word, StopClass::FUNCTION)
    })
}

/// Returns the stems of a text's content words, each once. Two texts that share several of them are
/// likely about the same subject.
pub fn content_stems(text: &str) -> BTreeSet<String> {
    content_words(text).map(|word| stem(&word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_and_function_words_are_no_content() {
        let words: Vec<String> =
            content_words("We should NOT cache the JWTs in db: cache!").collect();
        assert_eq!(words, ["cache", "jwts", "cache"]);
        assert_eq!(content_words("it is to be").count(), 0);
    }

    #[test]
    fn forms_of_a_word_are_one_stem() {
        let stems = content_stems("Caching caches cached JWTs; the jwt");
        assert_eq!(stems.iter().map(String::as_str).collect::<Vec<_>>(), ["cach", "jwt"]);
    }
}
