//! Terms for comparing texts: lower-cased, stemmed words, or character bigrams in scripts without
//! spaces. A set of terms is a sorted list of hashes, so that comparing two is a linear merge.

use std::hash::{DefaultHasher, Hash, Hasher};

use tome_text::{StopClass, is_stop_word, is_unspaced, stem, subwords};

/// Words of advice for or against something; polarity is compared separately from the subject.
const FOR: &[&str] =
    &["always", "do", "use", "using", "used", "prefer", "should", "must", "enable"];
/// The subset of `POSITIVE_WORDS` that is imperative.
const URGING: &[&str] = &["always", "do", "use", "prefer", "should", "must", "enable"];
const AGAINST: &[&str] = &[
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
const CJK_FOR: &[&str] = &["总是", "應該", "应该", "务必", "必须", "使用"];
const CJK_AGAINST: &[&str] =
    &["不应该", "不要", "不能", "不得", "从不", "切勿", "避免", "禁止", "请勿", "不", "勿"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms(Vec<u64>);

impl Terms {
    /// The subject terms of a text, without stop words and polarity.
    pub(super) fn about(text: &str) -> Self {
        let mut text = text.to_owned();
        for phrase in CJK_AGAINST.iter().chain(CJK_FOR) {
            if text.contains(phrase) {
                text = text.replace(phrase, " ");
            }
        }
        Self::of(words(&text).iter().flat_map(|word| match word {
            Word::Spaced(word) if is_ignored(&word.to_lowercase()) => Vec::new(),
            Word::Spaced(word) => vec![stem_of(word)],
            Word::Unspaced(run) => pairs(run),
        }))
    }

    /// All words of a text and the parts of its identifiers, to match keywords against.
    pub(super) fn searched(text: &str) -> Self {
        Self::of(words(text).iter().flat_map(|word| match word {
            Word::Spaced(word) => {
                let mut all: Vec<_> = subwords(word).map(stem_of).collect();
                all.push(stem_of(word));
                all
            }
            // Include single characters: a keyword may be one.
            Word::Unspaced(run) => {
                let singles = run.chars().map(String::from);
                pairs(run).into_iter().chain(singles).collect()
            }
        }))
    }

    /// The terms of a keyword: as whole words, and as parts of identifiers.
    pub(super) fn needles(keyword: &str) -> [Self; 2] {
        let whole = words(keyword);
        let parts = whole.iter().flat_map(|word| match word {
            Word::Spaced(word) => subwords(word).map(stem_of).collect(),
            Word::Unspaced(run) => pairs(run),
        });
        let parts = Self::of(parts);
        let whole = whole.iter().flat_map(|word| match word {
            Word::Spaced(word) => vec![stem_of(word)],
            Word::Unspaced(run) => pairs(run),
        });
        [Self::of(whole), parts]
    }

    fn of(terms: impl Iterator<Item = String>) -> Self {
        let mut all: Vec<u64> = terms.map(|term| hashed(&term)).collect();
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
    pub(super) fn shared(&self, other: &Self) -> usize {
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
    pub(super) fn dice(&self, other: &Self) -> f64 {
        let total = self.len() + other.len();
        if total == 0 { 0.0 } else { 2.0 * self.shared(other) as f64 / total as f64 }
    }

    /// Whether the other has all its terms.
    pub(super) fn within(&self, other: &Self) -> bool {
        self.shared(other) == self.len()
    }

    pub(super) fn with(&self, other: &Self) -> Self {
        let mut all = [self.0.as_slice(), other.0.as_slice()].concat();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }
}

/// Whether a sentence advises against something: it has an odd number of negations.
pub(super) fn is_against(sentence: &str) -> bool {
    let mut rest = sentence.to_owned();
    let mut count = 0;
    for phrase in CJK_AGAINST {
        count += rest.matches(phrase).count();
        rest = rest.replace(phrase, " ");
    }
    let negates = |word: &&Word| match word {
        Word::Spaced(word) => AGAINST.contains(&word.to_lowercase().as_str()),
        Word::Unspaced(_) => false,
    };
    (count + words(&rest).iter().filter(negates).count()) % 2 == 1
}

/// Whether a sentence contains an imperative such as "always" or "use".
pub(super) fn is_urging(sentence: &str) -> bool {
    let urges = |word: &Word| match word {
        Word::Spaced(word) => URGING.contains(&word.to_lowercase().as_str()),
        Word::Unspaced(run) => CJK_FOR.iter().any(|phrase| run.contains(phrase)),
    };
    words(sentence).iter().any(urges)
}

/// Whether a lower-case word says nothing about the subject.
pub(super) fn is_ignored(word: &str) -> bool {
    is_stop_word(word, StopClass::FUNCTION) || FOR.contains(&word) || AGAINST.contains(&word)
}

/// A word as it appears in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Letters and digits, without apostrophes.
    Spaced(String),
    /// A run of characters in a script without spaces.
    Unspaced(String),
}

/// Splits a text into words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
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
            Some(Word::Unspaced(run)) if open && is_unspaced(c) => run.push(c),
            Some(Word::Spaced(run)) if open && !is_unspaced(c) => run.push(c),
            _ if is_unspaced(c) => found.push(Word::Unspaced(c.into())),
            _ => found.push(Word::Spaced(c.into())),
        }
        open = true;
    }
    found
}

/// Character bigrams of a run; a single character is returned as is.
fn pairs(run: &str) -> Vec<String> {
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
fn hashed(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polarity_is_no_part_of_what_a_text_is_about() {
        assert_eq!(Terms::about("Always use tabs"), Terms::about("Never use tabs"));
        assert_eq!(Terms::about("总是使用缓存"), Terms::about("不要使用缓存"));
        assert_ne!(Terms::about("Always use tabs"), Terms::about("Always use spaces"));
        for (sentence, against) in [
            ("Always use tabs", false),
            ("Don't use tabs.", true),
            ("Never do not use tabs", false),
            ("不要使用缓存", true),
            ("使用缓存", false),
        ] {
            assert_eq!(is_against(sentence), against, "{sentence}");
        }
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        let text = Terms::searched("The FileLock of tokio::spawn_blocking");
        for (keyword, found) in [
            ("filelock", true),
            ("FileLock", true),
            ("spawn", true),
            ("lock", true),
            ("port", false),
        ] {
            let hit = Terms::needles(keyword).iter().any(|needle| needle.within(&text));
            assert_eq!(hit, found, "{keyword}");
        }
        let plain = Terms::searched("a file lock");
        assert!(Terms::needles("fileLock").iter().any(|needle| needle.within(&plain)));
    }

    #[test]
    fn dice_is_symmetric_and_bounded() {
        let (a, b) = (Terms::about("parse the yaml file"), Terms::about("parse a toml file"));
        assert!((a.dice(&b) - b.dice(&a)).abs() < 1e-12);
        assert!((a.dice(&b) - 2.0 * 2.0 / 6.0).abs() < 1e-12);
        assert!((a.dice(&a) - 1.0).abs() < 1e-12);
        assert!(Terms::default().dice(&Terms::default()).abs() < 1e-12);
    }
}
