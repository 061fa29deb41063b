//! Stemming: the Snowball algorithm for English (Porter 2).
//!
//! The version of the algorithm is pinned in the workspace, because stems are stored in indexes.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// Returns the stem of a lowercase word. Most words of other languages are unchanged.
pub fn stem(word: &str) -> Cow<'_, str> {
    match abbreviation_of_plural(word) {
        Some(singular) => Cow::Borrowed(singular),
        None => Stemmer::new(Algorithm::English).stem(word),
    }
}

/// The singular of an abbreviation such as `jwts` or `prs`. Porter 2 keeps the `s` of words without a
/// vowel.
fn abbreviation_of_plural(word: &str) -> Option<&str> {
    let singular = word.strip_suffix('s')?;
    let is_consonant = |byte: u8| byte.is_ascii_lowercase() && !b"aeiouy".contains(&byte);
    let is_abbreviation =
        singular.len() >= 2 && singular.bytes().all(is_consonant) && !singular.ends_with('s');
    is_abbreviation.then_some(singular)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for forms in [
            &["lock", "locks", "locking", "locked"][..],
            &["write", "writes", "writing"],
            &["run", "running", "runs"],
            &["retry", "retries", "retried", "retrying"],
            &["process", "processes", "processing"],
            &["cache", "caches", "caching", "cached"],
            &["configure", "configured", "configuration"],
            &["decided", "deciding"],
            &["jwt", "jwts"],
            &["url", "urls"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| Some(stem) == stems.first()), "{stems:?}");
        }
    }

    #[test]
    fn different_words_keep_different_stems() {
        for (a, b) in [("string", "str"), ("lock", "block"), ("port", "part"), ("h2", "h3")] {
            assert_ne!(stem(a), stem(b));
        }
        for word in ["", "s", "css", "k8s", "исправил", "峰会", "e0308"] {
            assert_eq!(stem(word), word);
        }
    }
}
