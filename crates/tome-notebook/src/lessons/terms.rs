//! Terms for comparing texts: the stems that the indexes use, too. A set of terms is a sorted list
//! of hashes, so that comparing two is a linear merge.

use std::hash::{DefaultHasher, Hash, Hasher};

use tome_text::{StopClass, TokenKind, is_stop_word, stem, tokenize};

/// Words of advice for or against something; polarity is compared separately from the subject.
const POSITIVE_WORDS: &[&str] =
    &["always", "do", "use", "using", "used", "prefer", "should", "must", "enable"];
/// The subset of `POSITIVE_WORDS` that is imperative.
const IMPERATIVE_WORDS: &[&str] = &["always", "do", "use", "prefer", "should", "must", "enable"];
const NEGATIVE_WORDS: &[&str] = &[
    "never",
    "not",
    "no",
    "nor",
    "avoid",
    "avoids",
    "avoiding",
    "dont",
    "doesnt",
    "didnt",
    "cannot",
    "cant",
    "couldnt",
    "wont",
    "isnt",
    "arent",
    "wasnt",
    "shouldnt",
    "mustnt",
    "without",
    "disable",
    "disabled",
    "disabling",
];
const CJK_POSITIVE: &[&str] = &["总是", "應該", "应该", "务必", "必须", "使用"];
const CJK_NEGATIVE: &[&str] =
    &["不应该", "不要", "不能", "不得", "从不", "切勿", "避免", "禁止", "请勿", "不", "勿"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LessonTerms(Vec<u64>);

impl LessonTerms {
    /// The subject terms of a text, without stop words and polarity. Unlike
    /// [`tome_text::content_stems`] they are made of tokens, which split identifiers and scripts
    /// without spaces.
    pub(super) fn subject_terms(text: &str) -> Self {
        let mut text = text.to_owned();
        for phrase in CJK_NEGATIVE.iter().chain(CJK_POSITIVE) {
            if text.contains(phrase) {
                text = text.replace(phrase, " ");
            }
        }
        let mut terms = Vec::new();
        for_each_word(&text, |word| {
            if !is_ignored(word) {
                terms.push(hash_term(&stem(word)));
            }
        });
        terms.sort_unstable();
        terms.dedup();
        Self(terms)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Number of common terms.
    pub(super) fn count_shared(&self, other: &Self) -> usize {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    shared += 1;
                    left.next();
                    right.next();
                }
            }
        }
        shared
    }

    /// The Dice coefficient, from 0 to 1; 0 for two empty sets.
    pub(super) fn dice_coefficient(&self, other: &Self) -> f64 {
        let total = self.len() + other.len();
        if total == 0 { 0.0 } else { 2.0 * self.count_shared(other) as f64 / total as f64 }
    }

    pub(super) fn is_subset_of(&self, other: &Self) -> bool {
        self.count_shared(other) == self.len()
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut all = [self.0.as_slice(), other.0.as_slice()].concat();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }
}

/// Whether a sentence advises against something: it has an odd number of negations.
pub(super) fn is_negated(sentence: &str) -> bool {
    let mut rest = sentence.to_owned();
    let mut count = 0;
    for phrase in CJK_NEGATIVE {
        count += rest.matches(phrase).count();
        rest = rest.replace(phrase, " ");
    }
    for_each_word(&rest, |word| count += usize::from(NEGATIVE_WORDS.contains(&word)));
    count % 2 == 1
}

/// Whether a sentence contains an imperative such as "always" or "use".
pub(super) fn is_imperative(sentence: &str) -> bool {
    let mut is_found = CJK_POSITIVE.iter().any(|phrase| sentence.contains(phrase));
    for_each_word(sentence, |word| is_found |= IMPERATIVE_WORDS.contains(&word));
    is_found
}

/// Whether a lower-case word carries no information about the subject.
fn is_ignored(word: &str) -> bool {
    is_stop_word(word, StopClass::FUNCTION)
        || POSITIVE_WORDS.contains(&word)
        || NEGATIVE_WORDS.contains(&word)
}

/// Passes the words of a text, in lower case, to `take`.
fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    tokenize(text, &mut |kind, word| {
        if kind == TokenKind::Word {
            take(word);
        }
    });
}

/// Deterministic, unlike the default hasher of a `HashMap`: tidying must not depend on chance.
fn hash_term(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polarity_is_not_part_of_the_subject() {
        assert_eq!(
            LessonTerms::subject_terms("Always use tabs"),
            LessonTerms::subject_terms("Never use tabs")
        );
        assert_eq!(
            LessonTerms::subject_terms("总是使用缓存"),
            LessonTerms::subject_terms("不要使用缓存")
        );
        assert_ne!(
            LessonTerms::subject_terms("Always use tabs"),
            LessonTerms::subject_terms("Always use spaces")
        );
        for (sentence, against) in [
            ("Always use tabs", false),
            ("Don't use tabs.", true),
            ("Never do not use tabs", false),
            ("不要使用缓存", true),
            ("使用缓存", false),
        ] {
            assert_eq!(is_negated(sentence), against, "{sentence}");
        }
    }

    #[test]
    fn dice_is_symmetric_and_bounded() {
        let (a, b) = (
            LessonTerms::subject_terms("parse the yaml file"),
            LessonTerms::subject_terms("parse a toml file"),
        );
        assert!((a.dice_coefficient(&b) - b.dice_coefficient(&a)).abs() < 1e-12);
        assert!((a.dice_coefficient(&b) - 2.0 * 2.0 / 6.0).abs() < 1e-12);
        assert!((a.dice_coefficient(&a) - 1.0).abs() < 1e-12);
        assert!(LessonTerms::default().dice_coefficient(&LessonTerms::default()).abs() < 1e-12);
    }
}
