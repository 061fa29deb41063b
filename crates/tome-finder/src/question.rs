//! The terms of a question, and how often a text says each of them.
//!
//! A text that was found is looked at again, term by term: its stems, the exact words, and two of
//! them next to each other. Only words that begin like a term are stemmed, so that a text of a
//! kilobyte costs microseconds.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::words::{Piece, cut, is_stop, stem};

/// What an exact word adds to its stem.
const EXACT_SHARE: f32 = 0.3;
/// What two terms next to each other add.
const PAIR_SHARE: f32 = 0.6;
/// What one character of a script without spaces is worth, beside the pairs of them.
const SINGLE_SHARE: f32 = 0.5;
/// Terms of a question at most: what is longer is text that somebody pasted.
const TERMS_MAX: usize = 64;

/// The terms of a question.
#[derive(Debug, Clone, Default)]
pub struct Question {
    terms: Vec<Term>,
    numbers: HashMap<(Kind, String), usize>,
    pairs: HashMap<(usize, usize), usize>,
    /// How the words begin that are worth stemming.
    begins: HashSet<[u8; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Stem,
    Exact,
    Single,
    Identifier,
    Pair,
}

#[derive(Debug, Clone)]
struct Term {
    kind: Kind,
    /// The terms of the index that say how rare it is.
    stems: Vec<String>,
    share: f32,
}

impl Question {
    /// The terms of a question. Stop words count where it has nothing else.
    pub fn new(text: &str) -> Self {
        let (some, all) = (Self::of(text, false), Self::of(text, true));
        if some.terms.is_empty() { all } else { some }
    }

    fn of(text: &str, with_stops: bool) -> Self {
        let mut this = Self::default();
        let mut last: Option<usize> = None;
        cut(text, &mut |piece, word| {
            if this.terms.len() >= TERMS_MAX || (!with_stops && is_stop(word)) {
                return;
            }
            match piece {
                Piece::Word => {
                    let root = stem(word);
                    let number = this.add(Kind::Stem, &root, &[&root], 1.0);
                    if !is_spaceless(word) {
                        this.begins.extend(begin(word));
                        this.add(Kind::Exact, word, &[&root], EXACT_SHARE);
                        if let Some(before) = last.filter(|before| *before != number) {
                            this.add_pair(before, number);
                        }
                        last = Some(number);
                    }
                }
                Piece::Single => {
                    this.add(Kind::Single, word, &[word], SINGLE_SHARE);
                }
                Piece::Identifier => {
                    this.add(Kind::Identifier, word, &[word], 1.0);
                }
                Piece::Path => {}
            }
        });
        this
    }

    fn add(&mut self, kind: Kind, text: &str, stems: &[&str], share: f32) -> usize {
        let terms = &mut self.terms;
        *self.numbers.entry((kind, text.to_owned())).or_insert_with(|| {
            let stems = stems.iter().map(|stem| (*stem).to_owned()).collect();
            terms.push(Term { kind, stems, share });
            terms.len() - 1
        })
    }

    fn add_pair(&mut self, first: usize, second: usize) {
        let stem_of =
            |number: usize| self.terms.get(number).and_then(|term| term.stems.first().cloned());
        let (Some(a), Some(b)) = (stem_of(first), stem_of(second)) else { return };
        let number = self.add(Kind::Pair, &format!("{a} {b}"), &[&a, &b], PAIR_SHARE);
        self.pairs.insert((first, second), number);
    }

    /// How many terms it has.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// What each term is worth: its share, times how rare it is.
    pub fn weights(&self, rarity: impl Fn(&str) -> f32) -> Vec<f32> {
        let weight = |term: &Term| {
            let sum: f32 = term.stems.iter().map(|stem| rarity(stem)).sum();
            term.share * sum / term.stems.len().max(1) as f32
        };
        self.terms.iter().map(weight).collect()
    }

    /// Whether a term stands for itself; the others only add to one that does.
    pub fn is_own(&self, number: usize) -> bool {
        self.terms.get(number).is_some_and(|term| !matches!(term.kind, Kind::Exact | Kind::Pair))
    }

    /// Counts the terms of a text into `counts`, and returns how many words it has.
    pub fn count(&self, text: &str, counts: &mut [f32]) -> usize {
        let mut words = 0;
        let mut last: Option<usize> = None;
        let mut found = |number: Option<&usize>| {
            if let Some(count) = number.and_then(|number| counts.get_mut(*number)) {
                *count += 1.0;
            }
        };
        let mut key = (Kind::Stem, String::new());
        cut(text, &mut |piece, word| {
            let mut look = |kind: Kind, text: &str| {
                key.0 = kind;
                key.1.clear();
                key.1.push_str(text);
                self.numbers.get(&key)
            };
            match piece {
                Piece::Word if is_spaceless(word) => {
                    words += 1;
                    found(look(Kind::Stem, word));
                }
                Piece::Word => {
                    words += 1;
                    let is_near = begin(word).is_some_and(|begin| self.begins.contains(&begin));
                    let number = is_near
                        .then(|| stemmed_once(word, |root| look(Kind::Stem, root).copied()))
                        .flatten();
                    if number.is_some() {
                        found(number.as_ref());
                        found(look(Kind::Exact, word));
                    }
                    match (last, number) {
                        (Some(before), Some(now)) => {
                            found(self.pairs.get(&(before, now)));
                            last = number;
                        }
                        (Some(_), None) if is_stop(word) => {}
                        _ => last = number,
                    }
                }
                Piece::Single => found(look(Kind::Single, word)),
                Piece::Identifier => found(look(Kind::Identifier, word)),
                Piece::Path => {}
            }
        });
        words
    }
}

/// The first two bytes: a stem never changes them.
fn begin(word: &str) -> Option<[u8; 2]> {
    word.as_bytes()
        .first_chunk::<2>()
        .copied()
        .or_else(|| word.as_bytes().first().map(|byte| [*byte, 0]))
}

fn is_spaceless(word: &str) -> bool {
    word.chars().next().is_some_and(crate::words::is_spaceless)
}

thread_local! {
    /// Stems of words that were asked for before on this thread.
    static STEMS: RefCell<HashMap<String, String>> = RefCell::default();
}
const STEMS_MAX: usize = 4_096;

fn stemmed_once<T>(word: &str, take: impl FnOnce(&str) -> T) -> T {
    STEMS.with_borrow_mut(|stems| {
        if let Some(root) = stems.get(word) {
            return take(root);
        }
        let root = stem(word);
        let taken = take(&root);
        if stems.len() >= STEMS_MAX {
            stems.clear();
        }
        stems.insert(word.to_owned(), root);
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(question: &str, text: &str) -> (Vec<f32>, usize) {
        let question = Question::new(question);
        let mut counts = vec![0.0; question.len()];
        let words = question.count(text, &mut counts);
        (counts, words)
    }

    #[test]
    fn stems_exact_words_and_pairs_are_counted() {
        // refresh, refresh exactly, token, tokens exactly, both together.
        let (counts, words) =
            counted("refresh tokens", "We refreshed the token. Refresh tokens rotate.");
        assert_eq!(words, 7);
        assert_eq!(counts, [2.0, 1.0, 2.0, 1.0, 2.0]);
        let (counts, _) = counted("refresh tokens", "tokens to refresh");
        assert_eq!(counts, [1.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn stop_words_count_where_there_is_nothing_else() {
        assert_eq!(Question::new("who was the").len(), Question::of("who was the", true).len());
        assert!(!Question::new("who was the").is_empty());
        assert!(Question::new("who was Ada").len() < Question::of("who was Ada", true).len());
        assert!(Question::new("?!").is_empty());
    }

    #[test]
    fn characters_count_alone_and_in_pairs() {
        let (counts, _) = counted("峰会", "航空服务创新峰会的规模");
        assert!(counts.iter().all(|count| *count >= 1.0), "{counts:?}");
    }
}
