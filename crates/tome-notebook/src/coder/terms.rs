//! Terms for comparing texts: lower-cased, stemmed words, or character bigrams in scripts without
//! spaces. A set of terms is a sorted list of hashes, so that comparing two is a linear merge.

use std::hash::{DefaultHasher, Hash, Hasher};

use tome_text::{StopClass, is_stop_word, is_unspaced, stem, subwords};

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
pub(super) struct TermSet(Vec<u64>);

impl TermSet {
    /// The subject terms of a text, without stop words and polarity.
    pub(super) fn subject_terms(text: &str) -> Self {
        let mut text = text.to_owned();
        for phrase in CJK_NEGATIVE.iter().chain(CJK_POSITIVE) {
            if text.contains(phrase) {
                text = text.replace(phrase, " ");
            }
        }
        Self::from_terms(split_words(&text).iter().flat_map(|word| match word {
            TextWord::Spaced(word) if is_ignored(&word.to_lowercase()) => Vec::new(),
            TextWord::Spaced(word) => vec![stem_of(word)],
            TextWord::Unspaced(run) => character_bigrams(run),
        }))
    }

    /// All words of a text and the parts of its identifiers, to match keywords against.
    pub(super) fn search_terms(text: &str) -> Self {
        Self::from_terms(split_words(text).iter().flat_map(|word| match word {
            TextWord::Spaced(word) => {
                let mut all: Vec<_> = subwords(word).map(stem_of).collect();
                all.push(stem_of(word));
                all
            }
            // Include single characters: a keyword may be one.
            TextWord::Unspaced(run) => {
                let singles = run.chars().map(String::from);
                character_bigrams(run).into_iter().chain(singles).collect()
            }
        }))
    }

    /// The terms of a keyword: as whole words, and as parts of identifiers.
    pub(super) fn keyword_terms(keyword: &str) -> [Self; 2] {
        let whole = split_words(keyword);
        let parts = whole.iter().flat_map(|word| match word {
            TextWord::Spaced(word) => subwords(word).map(stem_of).collect(),
            TextWord::Unspaced(run) => character_bigrams(run),
        });
        let parts = Self::from_terms(parts);
        let whole = whole.iter().flat_map(|word| match word {
            TextWord::Spaced(word) => vec![stem_of(word)],
            TextWord::Unspaced(run) => character_bigrams(run),
        });
        [Self::from_terms(whole), parts]
    }

    fn from_terms(terms: impl Iterator<Item = String>) -> Self {
        let mut all: Vec<u64> = terms.map(|term| hash_term(&term)).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
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

    /// Whether the other has all its terms.
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
    let negates = |word: &&TextWord| match word {
        TextWord::Spaced(word) => NEGATIVE_WORDS.contains(&word.to_lowercase().as_str()),
        TextWord::Unspaced(_) => false,
    };
    (count + split_words(&rest).iter().filter(negates).count()) % 2 == 1
}

/// Whether a sentence contains an imperative such as "always" or "use".
pub(super) fn is_imperative(sentence: &str) -> bool {
    let urges = |word: &TextWord| match word {
        TextWord::Spaced(word) => IMPERATIVE_WORDS.contains(&word.to_lowercase().as_str()),
        TextWord::Unspaced(run) => CJK_POSITIVE.iter().any(|phrase| run.contains(phrase)),
    };
    split_words(sentence).iter().any(urges)
}

/// Whether a lower-case word says nothing about the subject.
pub(super) fn is_ignored(word: &str) -> bool {
    is_stop_word(word, StopClass::FUNCTION)
        || POSITIVE_WORDS.contains(&word)
        || NEGATIVE_WORDS.contains(&word)
}

/// A word as it appears in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextWord {
    /// Letters and digits, without apostrophes.
    Spaced(String),
    /// A run of characters in a script without spaces.
    Unspaced(String),
}

/// Splits a text into words.
pub(super) fn split_words(text: &str) -> Vec<TextWord> {
    let mut found: Vec<TextWord> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        if matches!(c, '\'' | '’') && open {
            continue;
        }
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        match found.last_mut() {
            Some(TextWord::Unspaced(run)) if open && is_unspaced(c) => run.push(c),
            Some(TextWord::Spaced(run)) if open && !is_unspaced(c) => run.push(c),
            _ if is_unspaced(c) => found.push(TextWord::Unspaced(c.into())),
            _ => found.push(TextWord::Spaced(c.into())),
        }
        open = true;
    }
    found
}

/// Character bigrams of a run; a single character is returned as is.
fn character_bigrams(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    if chars.len() < 2 {
        return vec![run.to_owned()];
    }
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// The stem of a word, ignoring case.
pub(super) fn stem_of(word: &str) -> String {
    stem(&word.to_lowercase()).into_owned()
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
    fn polarity_is_no_part_of_what_a_text_is_about() {
        assert_eq!(
            TermSet::subject_terms("Always use tabs"),
            TermSet::subject_terms("Never use tabs")
        );
        assert_eq!(TermSet::subject_terms("总是使用缓存"), TermSet::subject_terms("不要使用缓存"));
        assert_ne!(
            TermSet::subject_terms("Always use tabs"),
            TermSet::subject_terms("Always use spaces")
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
    fn identifiers_are_found_whole_and_by_their_parts() {
        let text = TermSet::search_terms("The FileLock of tokio::spawn_blocking");
        for (keyword, found) in [
            ("filelock", true),
            ("FileLock", true),
            ("spawn", true),
            ("lock", true),
            ("port", false),
        ] {
            let hit =
                TermSet::keyword_terms(keyword).iter().any(|needle| needle.is_subset_of(&text));
            assert_eq!(hit, found, "{keyword}");
        }
        let plain = TermSet::search_terms("a file lock");
        assert!(
            TermSet::keyword_terms("fileLock").iter().any(|needle| needle.is_subset_of(&plain))
        );
    }

    #[test]
    fn dice_is_symmetric_and_bounded() {
        let (a, b) = (
            TermSet::subject_terms("parse the yaml file"),
            TermSet::subject_terms("parse a toml file"),
        );
        assert!((a.dice_coefficient(&b) - b.dice_coefficient(&a)).abs() < 1e-12);
        assert!((a.dice_coefficient(&b) - 2.0 * 2.0 / 6.0).abs() < 1e-12);
        assert!((a.dice_coefficient(&a) - 1.0).abs() < 1e-12);
        assert!(TermSet::default().dice_coefficient(&TermSet::default()).abs() < 1e-12);
    }
}
