//! Compares statements by their words.

use std::borrow::Cow;
use std::cmp::Ordering;

use tome_text::{is_han_or_kana, stem};

use crate::extract::language::terms::is_stop;
use crate::extract::language::text::to_lower;

/// Words of a text that are compared, and characters of scripts without spaces.
const COMPARED_MAX: usize = 400;

/// The content terms of a text: stems without stop words, and pairs of adjacent CJK characters. Unlike
/// [`tome_text::content_stems`] they leave out the words of nearly every session, which would make
/// unrelated statements similar.
/// Sorted, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct TermSet<'a>(Vec<Cow<'a, str>>);

impl<'a> TermSet<'a> {
    pub(crate) fn from_text(text: &'a str) -> Self {
        let mut terms = Vec::new();
        let is_border = |c: char| !c.is_alphanumeric() && c != '_' || is_han_or_kana(c);
        for word in text.split(is_border).take(COMPARED_MAX) {
            // No word of fewer bytes has three characters.
            if word.len() < 3 {
                continue;
            }
            let lower = to_lower(word);
            if lower.chars().count() >= 3 && (lower.len() > 7 || !is_stop(&lower)) {
                terms.push(match lower {
                    Cow::Borrowed(lower) => stem(lower),
                    Cow::Owned(lower) => Cow::Owned(stem(&lower).into_owned()),
                });
            }
        }
        if !text.is_ascii() {
            let wide = text.chars().filter(|c| is_han_or_kana(*c)).take(COMPARED_MAX);
            let wide: Vec<char> = wide.collect();
            terms.extend(wide.windows(2).map(|pair| Cow::Owned(pair.iter().collect::<String>())));
        }
        terms.sort_unstable();
        terms.dedup();
        Self(terms)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_terms(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(Cow::into_owned)
    }

    /// Number of terms that two texts share.
    pub(crate) fn count_shared(&self, other: &TermSet<'_>) -> usize {
        let (mut own, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
            let order = a.as_ref().cmp(b.as_ref());
            shared += usize::from(order == Ordering::Equal);
            if order != Ordering::Greater {
                own.next();
            }
            if order != Ordering::Less {
                others.next();
            }
        }
        shared
    }

    /// Percentage of the smaller set that is in the larger one. The divisor is at least the larger
    /// set's size, up to five, so that a few common words do not make two texts the same.
    pub(crate) fn overlap_percent(&self, other: &TermSet<'_>) -> usize {
        let smaller = self.len().min(other.len());
        let larger = self.len().max(other.len());
        self.count_shared(other) * 100 / smaller.max(larger.min(5)).max(1)
    }
}

/// A text with its terms, to be compared with several others.
#[derive(Debug, Clone)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    pub(crate) terms: TermSet<'a>,
}

impl<'a> Statement<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, terms: TermSet::from_text(text) }
    }

    /// Whether two texts have nearly the same meaning, judged by their terms.
    pub(crate) fn is_similar(&self, other: &Statement<'_>) -> bool {
        self.text == other.text || self.terms.overlap_percent(&other.terms) >= 70
    }
}

/// Whether two texts have nearly the same meaning, judged by their terms.
pub(crate) fn is_similar(a: &str, b: &str) -> bool {
    a == b || TermSet::from_text(a).overlap_percent(&TermSet::from_text(b)) >= 70
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_stems_of_words_that_say_something() {
        let terms = |text| TermSet::from_text(text).into_terms().collect::<Vec<_>>();
        assert_eq!(
            terms("The parsers are Parsing parser_state, an e.g."),
            ["pars", "parser", "parser_st"]
        );
        assert_eq!(terms("会議室"), ["会議", "議室"]);
        assert_eq!(terms(""), [""; 0]);
    }

    #[test]
    fn shared_terms_are_counted_once() {
        let shared = |a, b| TermSet::from_text(a).count_shared(&TermSet::from_text(b));
        assert_eq!(shared("lexer parser lexer", "parser lexer token"), 2);
        assert_eq!(shared("lexer", ""), 0);
        assert!(is_similar("", "") && !is_similar("lexer", ""));
        assert!(
            Statement::new("Rename the lexer").is_similar(&Statement::new("the lexer: renamed"))
        );
    }
}
