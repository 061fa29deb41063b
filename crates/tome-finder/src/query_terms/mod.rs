//! The terms of a query, and their frequencies in a text.
//!
//! Used to rescore candidates: counts stems, exact words and adjacent pairs. Only words that share
//! a prefix with a term are tokenized and stemmed, so that a kilobyte of text costs microseconds.

mod prefixes;

use std::cell::RefCell;
use std::collections::HashMap;

use tome_text::{
    StopClass, TERM_BYTES_MAX, TokenKind, is_stop_word, is_unspaced, split_sentences, stem,
    tokenize,
};

use prefixes::TermPrefixes;

/// Extra weight of an exact word, relative to its stem.
const EXACT_SHARE: f32 = 0.3;
/// Weight of two adjacent terms.
const PAIR_SHARE: f32 = 0.6;
/// Weight of a single character of a script without spaces, next to its character pairs.
const SINGLE_SHARE: f32 = 0.5;
/// Maximum number of terms. Longer queries are pasted text; the actual question often comes last,
/// so the limit is generous.
const TERMS_MAX: usize = 256;
/// Characters that end a question.
pub const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Maximum number of questions that are separated in one query.
const SUB_QUESTIONS_MAX: usize = 8;

/// The terms of a query.
#[derive(Debug, Clone, Default)]
pub struct QueryTerms {
    terms: Vec<QueryTerm>,
    term_numbers: HashMap<(QueryTermKind, String), usize>,
    pairs: HashMap<(usize, usize), usize>,
    /// Terms of each question, if the query contains several.
    sub_questions: Vec<Vec<usize>>,
    prefixes: TermPrefixes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum QueryTermKind {
    Stem,
    Exact,
    Single,
    Identifier,
    Pair,
}

#[derive(Debug, Clone)]
struct QueryTerm {
    kind: QueryTermKind,
    /// Index terms whose IDF determines the weight.
    stems: Vec<String>,
    share: f32,
}

impl QueryTerms {
    /// Parses a query. Keeps stop words only if there is nothing else.
    pub fn new(text: &str) -> Self {
        let mut this = Self::parse(text, false);
        if this.terms.is_empty() {
            this = Self::parse(text, true);
        }
        this.sub_questions = this.split_questions(text);
        this
    }

    /// Returns the terms of each question if the query contains several.
    fn split_questions(&self, text: &str) -> Vec<Vec<usize>> {
        let questions = text
            .split_inclusive(QUESTION_MARKS)
            .filter(|sentence| sentence.ends_with(QUESTION_MARKS));
        let mut sub_questions: Vec<Vec<usize>> = Vec::new();
        for question in questions.take(SUB_QUESTIONS_MAX) {
            // Only the last sentence is the question; those before it give context.
            let numbers = self.find_terms_in(last_sentence(question));
            if !numbers.is_empty() {
                sub_questions.push(numbers);
            }
        }
        if sub_questions.len() < 2 { Vec::new() } else { sub_questions }
    }

    /// Returns the numbers of the terms that occur in `words`, sorted.
    pub fn find_terms_in(&self, words: &str) -> Vec<usize> {
        let found = Self::parse(words, false);
        let numbers =
            found.term_numbers.keys().filter_map(|key| self.term_numbers.get(key).copied());
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    /// Term numbers of each question if the query contains several, otherwise empty.
    pub fn sub_questions(&self) -> &[Vec<usize>] {
        &self.sub_questions
    }

    fn parse(text: &str, with_stops: bool) -> Self {
        let mut query = Self::default();
        let mut last: Option<usize> = None;
        tokenize(text, &mut |kind, word| {
            if query.terms.len() >= TERMS_MAX
                || (!with_stops && is_stop_word(word, StopClass::FUNCTION))
            {
                return;
            }
            match kind {
                TokenKind::Word => {
                    let root = stem(word).into_owned();
                    let number = query.add_term(QueryTermKind::Stem, &root, &[&root], 1.0);
                    if !starts_unspaced(word) {
                        query.prefixes.add_word(word, &root);
                        query.add_term(QueryTermKind::Exact, word, &[&root], EXACT_SHARE);
                        if let Some(before) = last.filter(|before| *before != number) {
                            query.add_pair(before, number);
                        }
                        last = Some(number);
                    }
                }
                TokenKind::Character => {
                    query.add_term(QueryTermKind::Single, word, &[word], SINGLE_SHARE);
                }
                TokenKind::Identifier => {
                    query.add_term(QueryTermKind::Identifier, word, &[word], 1.0);
                    query.prefixes.add_identifier(word);
                }
                TokenKind::Path => {}
            }
        });
        query
    }

    fn add_term(&mut self, kind: QueryTermKind, text: &str, stems: &[&str], share: f32) -> usize {
        let terms = &mut self.terms;
        *self.term_numbers.entry((kind, text.to_owned())).or_insert_with(|| {
            let stems = stems.iter().map(|stem| (*stem).to_owned()).collect();
            terms.push(QueryTerm { kind, stems, share });
            terms.len() - 1
        })
    }

    fn add_pair(&mut self, first: usize, second: usize) {
        let stem_of =
            |number: usize| self.terms.get(number).and_then(|term| term.stems.first().cloned());
        let (Some(a), Some(b)) = (stem_of(first), stem_of(second)) else { return };
        let number = self.add_term(QueryTermKind::Pair, &format!("{a} {b}"), &[&a, &b], PAIR_SHARE);
        self.pairs.insert((first, second), number);
    }

    /// Returns whether a word shares a prefix with a term; others need no stemming.
    fn shares_prefix(&self, word: &str) -> bool {
        self.prefixes.matches_word(word.as_bytes())
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Weight of each term: its share times the mean IDF of its stems. Calls `rarity` once per
    /// stem.
    pub fn term_weights(&self, rarity: impl Fn(&str) -> f32) -> Vec<f32> {
        let mut known: HashMap<&str, f32> = HashMap::new();
        let mut weights = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let stems = term.stems.iter();
            let sum: f32 =
                stems.map(|stem| *known.entry(stem).or_insert_with(|| rarity(stem))).sum();
            weights.push(term.share * sum / term.stems.len().max(1) as f32);
        }
        weights
    }

    /// Returns whether a term counts by itself; exact words and pairs only add to one that does.
    /// Digits of an identifier (`zebra77`) do not count: the identifier does.
    pub fn is_primary(&self, number: usize) -> bool {
        self.terms.get(number).is_some_and(|term| match term.kind {
            QueryTermKind::Exact | QueryTermKind::Pair => false,
            QueryTermKind::Stem => !self.is_identifier_digits(term),
            QueryTermKind::Single | QueryTermKind::Identifier => true,
        })
    }

    fn is_identifier_digits(&self, term: &QueryTerm) -> bool {
        let Some(figures) = term.stems.first() else { return false };
        let is_figures = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let names = self.terms.iter().filter(|term| term.kind == QueryTermKind::Identifier);
        let mut names = names.filter_map(|term| term.stems.first());
        is_figures(figures) && names.any(|name| name.contains(figures) && !is_figures(name))
    }

    /// The character pair of a script without spaces, if the term is one. A pair may span two words
    /// and mean nothing.
    pub fn character_pair(&self, number: usize) -> Option<&str> {
        let term = self.terms.get(number).filter(|term| term.kind == QueryTermKind::Stem)?;
        term.stems.first().map(String::as_str).filter(|stem| starts_unspaced(stem))
    }

    /// Adds the term frequencies of a text to `counts`, and returns its number of words.
    pub fn count_terms(&self, text: &str, counts: &mut [f32]) -> usize {
        let mut count = TermCounter::new(self, counts);
        let (mut at, mut words) = (0, 0);
        while let Some(run) = self.prefixes.next_run(text.as_bytes(), at) {
            let token = text.get(run.from..run.end).unwrap_or_default();
            words += if run.is_non_ascii { count_word_starts(token) } else { run.words };
            at = run.end;
            // After a term, the next words may complete a pair.
            if !run.may_match && !run.is_non_ascii && count.last.is_none() {
                continue;
            }
            // A sign belongs to the letter before it: `c++`, `c#`.
            let after = text.get(at..).unwrap_or_default();
            let sign = ["++", "#"].into_iter().find(|sign| after.starts_with(sign));
            match (as_plain_word(token), sign) {
                (Some(word), None) => count.count_plain_word(word),
                (_, None) => count.count_tokens(token),
                (_, Some(sign)) => {
                    at += sign.len();
                    count.count_tokens(text.get(run.from..at).unwrap_or(token));
                }
            }
        }
        words
    }
}

/// Last sentence of a text. Questions often follow a line of other text, or a semicolon.
fn last_sentence(text: &str) -> &str {
    let last = split_sentences(text).pop().unwrap_or(text);
    let last = last.trim_end().rsplit('\n').next().unwrap_or(last);
    let last = last.rsplit("; ").next().unwrap_or(last);
    last.rsplit('；').next().unwrap_or(last)
}

/// Approximate number of words: runs of letters and digits, camel-case humps, and each character of
/// a script without spaces.
fn count_word_starts(text: &str) -> usize {
    let (mut words, mut before) = (0, ' ');
    for letter in text.chars() {
        let is_first = if letter.is_ascii() {
            letter.is_ascii_alphanumeric()
                && (!before.is_alphanumeric()
                    || (letter.is_ascii_uppercase() && before.is_ascii_lowercase()))
        } else {
            is_unspaced(letter) || (letter.is_alphanumeric() && !before.is_alphanumeric())
        };
        words += usize::from(is_first);
        before = letter;
    }
    words
}

/// State of counting the terms of one text.
struct TermCounter<'a> {
    terms: &'a QueryTerms,
    counts: &'a mut [f32],
    /// The preceding term, if only stop words followed it.
    last: Option<usize>,
    /// Reused lookup key, to avoid allocations.
    key: (QueryTermKind, String),
}

impl<'a> TermCounter<'a> {
    fn new(terms: &'a QueryTerms, counts: &'a mut [f32]) -> Self {
        Self { terms, counts, last: None, key: (QueryTermKind::Stem, String::new()) }
    }

    /// Counts the tokens of any text.
    fn count_tokens(&mut self, text: &str) {
        tokenize(text, &mut |kind, word| match kind {
            TokenKind::Word if starts_unspaced(word) => self.count_term(QueryTermKind::Stem, word),
            TokenKind::Word => self.count_word(word),
            TokenKind::Character => self.count_term(QueryTermKind::Single, word),
            TokenKind::Identifier => self.count_term(QueryTermKind::Identifier, word),
            TokenKind::Path => {}
        });
    }

    /// Counts a word of plain ASCII letters, which needs lowercasing but no tokenization.
    fn count_plain_word(&mut self, word: &str) {
        if self.last.is_none() && !self.terms.shares_prefix(word) {
            return;
        }
        let mut small = [0; TERM_BYTES_MAX];
        if let Some(small) = small.get_mut(..word.len()) {
            small.copy_from_slice(word.as_bytes());
            small.make_ascii_lowercase();
            if let Ok(small) = std::str::from_utf8(small) {
                self.count_word(small);
            }
        }
    }

    fn count_word(&mut self, word: &str) {
        let is_near = self.terms.shares_prefix(word);
        let number = is_near
            .then(|| with_cached_stem(word, |root| self.find_term(QueryTermKind::Stem, root)));
        let number = number.flatten();
        if let Some(count) = number.and_then(|number| self.counts.get_mut(number)) {
            *count += 1.0;
            self.count_term(QueryTermKind::Exact, word);
        }
        match (self.last, number) {
            (Some(before), Some(now)) => {
                let pair = self.terms.pairs.get(&(before, now));
                if let Some(count) = pair.and_then(|pair| self.counts.get_mut(*pair)) {
                    *count += 1.0;
                }
                self.last = number;
            }
            (Some(_), None) if is_stop_word(word, StopClass::FUNCTION) => {}
            _ => self.last = number,
        }
    }

    fn find_term(&mut self, kind: QueryTermKind, text: &str) -> Option<usize> {
        self.key.0 = kind;
        self.key.1.clear();
        self.key.1.push_str(text);
        self.terms.term_numbers.get(&self.key).copied()
    }

    fn count_term(&mut self, kind: QueryTermKind, text: &str) {
        let number = self.find_term(kind, text);
        if let Some(count) = number.and_then(|number| self.counts.get_mut(number)) {
            *count += 1.0;
        }
    }
}

/// Returns the run as a word if it is a single one: lower case, except maybe for the first letter.
fn as_plain_word(run: &str) -> Option<&str> {
    let word = run.trim_matches(['.', '/', '\\', ':', '-', '\'']);
    let is_plain = word.len() <= TERM_BYTES_MAX
        && word.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && word.bytes().skip(1).all(|letter| letter.is_ascii_lowercase());
    is_plain.then_some(word)
}

fn starts_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(is_unspaced)
}

thread_local! {
    /// Cache of stems per thread.
    static STEMS: RefCell<HashMap<String, String>> = RefCell::default();
}
const STEMS_MAX: usize = 4_096;

fn with_cached_stem<T>(word: &str, take: impl FnOnce(&str) -> T) -> T {
    STEMS.with_borrow_mut(|stems| {
        if let Some(root) = stems.get(word) {
            return take(root);
        }
        let root = stem(word).into_owned();
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

    fn counted(query: &str, text: &str) -> (Vec<f32>, usize) {
        let terms = QueryTerms::new(query);
        let mut counts = vec![0.0; terms.len()];
        let words = terms.count_terms(text, &mut counts);
        (counts, words)
    }

    #[test]
    fn stems_exact_words_and_pairs_are_counted() {
        // refresh, refresh (exact), token, tokens (exact), the pair.
        let (counts, words) =
            counted("refresh tokens", "We refreshed the token. Refresh tokens rotate.");
        assert_eq!(words, 7);
        assert_eq!(counts, [2.0, 1.0, 2.0, 1.0, 2.0]);
        let (counts, _) = counted("refresh tokens", "tokens to refresh");
        assert_eq!(counts, [1.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn stop_words_count_in_a_query_without_other_words() {
        assert_eq!(
            QueryTerms::new("who was the").len(),
            QueryTerms::parse("who was the", true).len()
        );
        assert!(!QueryTerms::new("who was the").is_empty());
        assert!(
            QueryTerms::new("who was Ada").len() < QueryTerms::parse("who was Ada", true).len()
        );
        assert!(QueryTerms::new("?!").is_empty());
    }

    #[test]
    fn digits_inside_a_name_are_not_primary_terms() {
        let primary_terms = |text: &str| {
            let terms = QueryTerms::new(text);
            let primary = (0..terms.len()).filter(|number| terms.is_primary(*number));
            primary.map(|number| terms.terms[number].stems.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(primary_terms("zebra77"), ["zebra", "zebra77"]);
        assert_eq!(primary_terms("port 77"), ["port", "77"]);
        assert!(primary_terms("E4711").contains(&"e4711".to_owned()));
    }

    #[test]
    fn several_questions_in_one_query_are_separated() {
        let terms = QueryTerms::new("We moved to v1.2. Who owns main.rs? And when is the release?");
        let names = |numbers: &Vec<usize>| {
            let stems = numbers.iter().filter(|number| terms.is_primary(**number));
            stems.map(|number| terms.terms[*number].stems.join(" ")).collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = terms.sub_questions().iter().map(names).collect();
        assert_eq!(found, ["own mainrs main rs", "releas"]);
        assert!(QueryTerms::new("who owns main.rs? we moved.").sub_questions().is_empty());
        assert!(QueryTerms::new("who? owns main.rs?").sub_questions().is_empty());
        assert_eq!(
            QueryTerms::new("我表哥今年多大了？另外，峰会的规模是什么？").sub_questions().len(),
            2
        );
    }

    #[test]
    fn the_end_of_a_long_query_counts() {
        let text = format!("{} where is the zeppelin?", "another thing that was told ".repeat(9));
        let long: String = (0..30).map(|n| format!("word{} ", char::from(b'a' + n % 26))).collect();
        let (counts, _) = counted(&format!("{long}{text}"), "zeppelin");
        assert!(counts.iter().any(|count| *count > 0.0));
    }

    #[test]
    fn characters_count_alone_and_in_pairs() {
        let (counts, _) = counted("峰会", "航空服务创新峰会的规模");
        assert!(counts.iter().all(|count| *count >= 1.0), "{counts:?}");
    }

    proptest! {
        #[test]
        fn fast_and_full_counting_agree(
            text in prop::collection::vec(prop_oneof![
                3 => prop::sample::select(vec![
                    "refresh", "Refreshing", "the", "tokens", "token's", "C++", "c", "c#", "parse_http_header", "HTTPServer2",
                    "src/a.rs:45", "well-known", "to_do", "toDo", "o'clock", "e-mail", "skies", "hoping", "don't", "3f9a2b1c", "v1.2.3", "峰会", "naïve", "re-\u{301}", "-x-", "a", "…",
                ]).prop_map(str::to_owned),
                1 => "[a-zA-Z0-9_.'+#-]{0,8}",
                1 => "\\PC{0,4}",
            ], 0..24),
            gaps in prop::sample::select(vec![" ", "\n", ", ", "+", "(", "#"]),
        ) {
            let text = text.join(gaps);
            let terms = QueryTerms::new(
                "refresh the token parse_http_header c++ c# 峰会 known a v1.2.3 naive to-do o'clock e_mail sky hope 3f9a2b1c",
            );
            let (mut short, mut long) = (vec![0.0; terms.len()], vec![0.0; terms.len()]);
            prop_assert_eq!(terms.count_terms(&text, &mut short), count_word_starts(&text));
            TermCounter::new(&terms, &mut long).count_tokens(&text);
            prop_assert_eq!(short, long);
        }
    }
}
