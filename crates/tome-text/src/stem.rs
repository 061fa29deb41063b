//! Stemming: the Snowball algorithm for English (Porter 2).
//!
//! The version of the algorithm is pinned in the workspace, because stems are stored in indexes.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// Returns the stem of a lowercase word. Most words of other languages are unchanged.
pub fn stem(word: &str) -> Cow<'_, str> {
    Stemmer::new(Algorithm::English).stem(word)
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
        for word in ["", "k8s", "исправил", "峰会", "e0308"] {
            assert_eq!(stem(word), word);
        }
    }
}
