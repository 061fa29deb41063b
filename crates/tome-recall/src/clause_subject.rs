//! The telling words of a clause and which of them stand side by side. They tell whether two clauses are about
//! one thing: the timeouts of two services are not.

use std::collections::BTreeSet;

use tome_text::{StopClass, is_stop_word, stem};

/// Words that two clauses must share to be about one thing.
const SHARED_MIN: usize = 2;
/// Digits of a number that names something: "widget 55".
const LABEL_DIGITS_MAX: usize = 4;

/// The telling words of a clause, in order, and the pairs of them that stand side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    words: Vec<String>,
    pairs: Vec<(String, String)>,
}

impl Subject {
    /// Reads the words of a clause; `is_value` marks those that are a value or its unit.
    pub(super) fn read(tokens: &[&str], is_value: &[bool]) -> Self {
        let mut subject = Self::default();
        let mut before: Option<String> = None;
        let mut after_preposition = false;
        for (at, (token, is_value)) in tokens.iter().zip(is_value).enumerate() {
            let lower = token.to_lowercase();
            let follows_word = before.is_some() && !after_preposition;
            let names = is_telling(&lower) || is_label(token, at, follows_word);
            if *is_value || !names {
                // "The width of the sidebar" has the pair width, sidebar.
                let joins = before.is_some() && !is_value;
                if joins && matches!(lower.as_str(), "of" | "for" | "in" | "on" | "at") {
                    after_preposition = true;
                } else if !(joins && after_preposition && is_article(&lower)) {
                    before = None;
                    after_preposition = false;
                }
                continue;
            }
            after_preposition = false;
            let word = stem(&lower).into_owned();
            subject.pairs.extend(before.replace(word.clone()).map(|before| (before, word.clone())));
            subject.words.push(word);
        }
        subject
    }

    fn set(&self) -> BTreeSet<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    fn words_before(&self, word: &str) -> Vec<&str> {
        let own = self.pairs.iter().filter(|(_, after)| after == word);
        own.map(|(before, _)| before.as_str()).collect()
    }

    fn words_after(&self, word: &str) -> Vec<&str> {
        let own = self.pairs.iter().filter(|(before, _)| before == word);
        own.map(|(_, after)| after.as_str()).collect()
    }

    /// Whether two clauses have unlike words beside one that they share: "suite A" and "suite B".
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let (own, others) = (self.set(), other.set());
        let shared: BTreeSet<&str> = own.intersection(&others).copied().collect();
        let differ = |own: Vec<&str>, others: Vec<&str>| {
            let unlike = |one: &&&str| !shared.contains(**one);
            let others: Vec<&&str> = others.iter().filter(unlike).collect();
            !others.is_empty() && own.iter().filter(unlike).any(|one| !others.contains(&one))
        };
        shared.iter().any(|word| {
            differ(self.words_before(word), other.words_before(word))
                || differ(self.words_after(word), other.words_after(word))
        })
    }

    /// Whether two clauses are about one thing. `query` has the words that were asked for.
    pub(super) fn is_same(&self, other: &Self, query: &BTreeSet<String>) -> bool {
        let (own, others) = (self.set(), other.set());
        let shared: BTreeSet<&str> = own.intersection(&others).copied().collect();
        let smaller = own.len().min(others.len());
        // Both clauses must have the words of the query: a rent budget is not "the budget for books".
        let asked = own.iter().filter(|word| query.contains(**word)).count();
        let asked_of_both = shared.iter().filter(|word| query.contains(**word)).count();
        let missing = asked - asked_of_both;
        let is_asked = asked_of_both > 0 && (missing * 3 <= asked || asked == 2);
        let is_close = shared.len() >= SHARED_MIN && shared.len() * 2 >= smaller
            || shared.len() == 1 && own.len().max(others.len()) <= 2;
        is_asked && is_close && !self.differs_from(other)
    }
}

fn is_article(word: &str) -> bool {
    matches!(word, "the" | "a" | "an" | "our" | "my" | "your" | "its" | "their")
}

/// Whether a word in lower case tells what a value is of.
pub(super) fn is_telling(word: &str) -> bool {
    #[rustfmt::skip]
    const FILLERS: &[&str] = &[
        "set", "sets", "use", "uses", "using", "used", "change", "changed", "changes", "raise", "raised", "increase",
        "increased", "lower", "lowered", "reduce", "reduced", "bump", "bumped", "move", "moved", "update", "updated",
        "switch", "switched", "make", "made", "need", "needs", "want", "must", "new", "old", "now", "instead", "again",
        "currently", "still", "already", "actually", "only", "today", "yesterday", "about", "around", "never", "not",
        "finally", "recently", "really", "just", "also",
    ];
    word.chars().count() >= 2
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\''))
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && !is_stop_word(word, StopClass::FUNCTION)
        && !is_stop_word(word, StopClass::SMALL_TALK)
        && !FILLERS.contains(&word)
        && word.chars().any(char::is_alphabetic)
}

/// Whether a letter or number tells one thing from another of its kind: "suite A", "widget 5".
fn is_label(token: &str, at: usize, follows_word: bool) -> bool {
    let mut chars = token.chars();
    match (chars.next(), chars.next()) {
        (Some(letter), None) if letter.is_ascii_uppercase() => at > 0 && letter != 'I',
        (Some(letter), None) if letter.is_ascii_lowercase() => {
            follows_word && !matches!(letter, 'a' | 'i')
        }
        _ => {
            follows_word
                && token.len() <= LABEL_DIGITS_MAX
                && token.bytes().all(|byte| byte.is_ascii_digit())
        }
    }
}
