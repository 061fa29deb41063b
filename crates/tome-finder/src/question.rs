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
    /// Their first letters, of which few texts have many: asked before anything else.
    initials: u128,
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
                        this.initials |= word.bytes().next().map_or(0, initial);
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

    /// Whether a word begins like one of its own; the others need not be stemmed.
    fn is_near(&self, word: &str) -> bool {
        word.bytes().next().is_some_and(|first| self.initials & initial(first) != 0)
            && begin(word).is_some_and(|begin| self.begins.contains(&begin))
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
        let mut count = Count::new(self, counts);
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.bytes().position(is_gap).unwrap_or(rest.len());
            let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            // A sign belongs to the letter before it: `c++`, `c#`.
            let sign = ["++", "#"].into_iter().find(|sign| after.starts_with(sign));
            match (plain(run), sign) {
                (Some(word), None) => count.plain_word(word),
                (_, sign) => {
                    let end = end + sign.map_or(0, str::len);
                    count.pieces(rest.get(..end).unwrap_or(run));
                }
            }
            rest =
                after.get(after.bytes().take_while(|byte| is_gap(*byte)).count()..).unwrap_or("");
        }
        count.words
    }
}

/// Counting one text.
struct Count<'a> {
    question: &'a Question,
    counts: &'a mut [f32],
    words: usize,
    /// The term before, where nothing but stop words came after it.
    last: Option<usize>,
    /// What is looked up, kept for its memory.
    key: (Kind, String),
}

impl<'a> Count<'a> {
    fn new(question: &'a Question, counts: &'a mut [f32]) -> Self {
        Self { question, counts, words: 0, last: None, key: (Kind::Stem, String::new()) }
    }

    /// A run of text that may be anything.
    fn pieces(&mut self, text: &str) {
        cut(text, &mut |piece, word| match piece {
            Piece::Word if is_spaceless(word) => {
                self.words += 1;
                self.found(Kind::Stem, word);
            }
            Piece::Word => self.word(word),
            Piece::Single => self.found(Kind::Single, word),
            Piece::Identifier => self.found(Kind::Identifier, word),
            Piece::Path => {}
        });
    }

    /// A word of plain letters, which cutting would only make small.
    fn plain_word(&mut self, word: &str) {
        if self.last.is_none() && !self.question.is_near(word) {
            self.words += 1;
            return;
        }
        let mut small = [0; crate::words::TERM_BYTES_MAX];
        if let Some(small) = small.get_mut(..word.len()) {
            small.copy_from_slice(word.as_bytes());
            small.make_ascii_lowercase();
            if let Ok(small) = std::str::from_utf8(small) {
                self.word(small);
            }
        }
    }

    fn word(&mut self, word: &str) {
        self.words += 1;
        let is_near = self.question.is_near(word);
        let number = is_near.then(|| stemmed_once(word, |root| self.number(Kind::Stem, root)));
        let number = number.flatten();
        if let Some(count) = number.and_then(|number| self.counts.get_mut(number)) {
            *count += 1.0;
            self.found(Kind::Exact, word);
        }
        match (self.last, number) {
            (Some(before), Some(now)) => {
                let pair = self.question.pairs.get(&(before, now));
                if let Some(count) = pair.and_then(|pair| self.counts.get_mut(*pair)) {
                    *count += 1.0;
                }
                self.last = number;
            }
            (Some(_), None) if is_stop(word) => {}
            _ => self.last = number,
        }
    }

    fn number(&mut self, kind: Kind, text: &str) -> Option<usize> {
        self.key.0 = kind;
        self.key.1.clear();
        self.key.1.push_str(text);
        self.question.numbers.get(&self.key).copied()
    }

    fn found(&mut self, kind: Kind, text: &str) {
        let number = self.number(kind, text);
        if let Some(count) = number.and_then(|number| self.counts.get_mut(number)) {
            *count += 1.0;
        }
    }
}

/// Whether no word and nothing that joins words has this byte in it.
fn is_gap(byte: u8) -> bool {
    byte.is_ascii()
        && !byte.is_ascii_alphanumeric()
        && !matches!(byte, b'_' | b'.' | b'/' | b'\\' | b':' | b'-' | b'\'')
}

/// The word that a run is, if it is nothing but one: small letters, the first one maybe not.
fn plain(run: &str) -> Option<&str> {
    let word = run.trim_matches(['.', '/', '\\', ':', '-', '\'']);
    let is_plain = word.len() <= crate::words::TERM_BYTES_MAX
        && word.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && word.bytes().skip(1).all(|letter| letter.is_ascii_lowercase());
    is_plain.then_some(word)
}

/// The first two bytes: a stem never changes them.
fn begin(word: &str) -> Option<[u8; 2]> {
    let bytes = word.as_bytes();
    let first = bytes.first()?.to_ascii_lowercase();
    Some([first, bytes.get(1).copied().unwrap_or(0)])
}

/// The bit of a first letter; what is not ASCII shares one.
fn initial(byte: u8) -> u128 {
    1 << byte.to_ascii_lowercase().min(127)
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
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn the_short_way_counts_what_the_long_way_counts(
            text in prop::collection::vec(prop_oneof![
                3 => prop::sample::select(vec![
                    "refresh", "Refreshing", "the", "tokens", "token's", "C++", "c", "c#", "parse_http_header", "HTTPServer2",
                    "src/a.rs:45", "well-known", "don't", "3f9a2b1c", "v1.2.3", "峰会", "naïve", "re-\u{301}", "-x-", "a", "…",
                ]).prop_map(str::to_owned),
                1 => "[a-zA-Z0-9_.'+#-]{0,8}",
                1 => "\\PC{0,4}",
            ], 0..24),
            gaps in prop::sample::select(vec![" ", "\n", ", ", "+", "(", "#"]),
        ) {
            let text = text.join(gaps);
            let question = Question::new("refresh the token parse_http_header c++ c# 峰会 known a v1.2.3 naive");
            let (mut short, mut long) = (vec![0.0; question.len()], vec![0.0; question.len()]);
            let words = question.count(&text, &mut short);
            let mut count = Count::new(&question, &mut long);
            count.pieces(&text);
            prop_assert_eq!(words, count.words);
            prop_assert_eq!(short, long);
        }
    }
}
