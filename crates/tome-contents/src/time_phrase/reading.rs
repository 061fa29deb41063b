//! Matches words against the rules of a language.

use std::ops::Range;

use super::language::{Grammar, Mark, Means, Part, Path, Slot, Sure, Unit};
use super::token::{Tail, Token};
use tome_model::digits;

/// A parsed phrase: its meaning and the values of its slots.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub means: Means,
    pub values: Values,
}

/// The values of a rule's slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    pub count: Option<i64>,
    pub unit: Option<Unit>,
    pub weekday: Option<i8>,
    pub month: Option<i8>,
    pub days: Vec<i8>,
    pub year: Option<i16>,
    pub quarter: Option<i8>,
    pub week: Option<i8>,
    pub whens: Vec<Reading>,
}

/// A match, and the index of the word after it.
#[derive(Debug)]
pub(super) struct Phrase {
    pub end: usize,
    pub reading: Reading,
}

/// The kind of text that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A text that is only a time.
    Alone,
    /// A longer text, in which a bare number is a year only if it is close to this one.
    Inside { this_year: i16 },
}

/// Finds phrases in a list of words.
pub(super) struct Reader<'a> {
    grammar: &'a Grammar,
    tokens: &'a [Token],
    place: Place,
}

impl<'a> Reader<'a> {
    pub fn new(grammar: &'a Grammar, tokens: &'a [Token], place: Place) -> Self {
        Self { grammar, tokens, place }
    }

    /// Returns the phrases that start at a word, with or without preposition and article, longest
    /// first.
    pub fn phrases(&self, start: usize) -> Vec<Phrase> {
        let language = self.grammar.language;
        let mut mark = if self.place == Place::Alone { Mark::Time } else { Mark::None };
        let mut found = self.at(start, mark, true);
        let mut next = start;
        if self.is_one_of(next, language.prepositions) && self.joined(next + 1, false) {
            next += 1;
            mark = mark.max(Mark::Preposition);
            found.extend(self.at(next, mark, true));
        }
        if self.is_one_of(next, language.articles) && self.joined(next + 1, false) {
            found.extend(self.at(next + 1, mark, true));
        }
        found.retain(|phrase| !self.counts(phrase.end));
        // A stable sort: among the longest, the first rule wins.
        found.sort_by_key(|phrase| std::cmp::Reverse(phrase.end));
        found
    }

    /// The byte range of the words `start..end`.
    pub fn range(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let last = self.tokens.get(end.checked_sub(1)?)?;
        Some(self.tokens.get(start)?.range.start..last.range.end)
    }

    fn at(&self, start: usize, mark: Mark, compounds: bool) -> Vec<Phrase> {
        let paths = self.grammar.paths.iter();
        let fitting = paths.filter(|path| path.needs <= mark && (compounds || !path.compound));
        let mut found = Vec::new();
        for path in fitting {
            let walk = Walk { at: start, comma: false, values: Values::default() };
            self.follow(path, start, &path.parts, walk, &mut found);
        }
        found
    }

    /// Follows the parts of a rule; one with nested phrases may end at several words.
    fn follow(
        &self,
        path: &Path,
        start: usize,
        parts: &[Part],
        mut walk: Walk,
        found: &mut Vec<Phrase>,
    ) {
        let Some((part, rest)) = parts.split_first() else {
            let reading = Reading { means: path.means, values: walk.values };
            if self.likely(&reading) {
                found.push(Phrase { end: walk.at, reading });
            }
            return;
        };
        if let Part::Comma = part {
            walk.comma = true;
            return self.follow(path, start, rest, walk, found);
        }
        if walk.at > start && !self.joined(walk.at, walk.comma) {
            return;
        }
        match part {
            Part::Words(words) if self.is_one_of(walk.at, words) => {
                self.follow(path, start, rest, walk.step(), found);
            }
            Part::Slot(Slot::When) => {
                // After a word such as `since`, a time follows.
                let led = matches!(path.parts.first(), Some(Part::Words(_)));
                let marked = led || self.place == Place::Alone;
                let mark = if marked { Mark::Time } else { Mark::None };
                for inner in self.inner(walk.at, mark) {
                    let mut walk = Walk { at: inner.end, comma: false, ..walk.clone() };
                    walk.values.whens.push(inner.reading);
                    self.follow(path, start, rest, walk, found);
                }
            }
            Part::Slot(slot) if self.take(*slot, walk.at, &mut walk.values) => {
                self.follow(path, start, rest, walk.step(), found);
            }
            _ => {}
        }
    }

    /// Phrases nested in a phrase; these cannot nest further.
    fn inner(&self, at: usize, mark: Mark) -> Vec<Phrase> {
        let article = self.is_one_of(at, self.grammar.language.articles);
        let at = if article && self.joined(at + 1, false) { at + 1 } else { at };
        let mut found = self.at(at, mark, false);
        found.retain(|phrase| !self.counts(phrase.end));
        found
    }

    /// Parses the word at `at` as the value of a slot.
    fn take(&self, slot: Slot, at: usize, values: &mut Values) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let (word, language) = (token.word.as_str(), self.grammar.language);
        match slot {
            Slot::Count => {
                values.count = number(word, 4).map(i64::from).or_else(|| {
                    language.numbers.iter().find(|(name, _)| *name == word).map(|(_, n)| *n)
                });
                values.count.is_some()
            }
            Slot::Unit => put(&mut values.unit, look_up(language.units, word)),
            Slot::Weekday(sure) => put(&mut values.weekday, named(language.weekdays, word, sure)),
            Slot::Month(sure) => put(&mut values.month, named(language.months, word, sure)),
            Slot::Quarter => put(&mut values.quarter, look_up(language.quarters, word)),
            Slot::Year => put(&mut values.year, year(word)),
            Slot::Week => put(&mut values.week, small(word, 53)),
            Slot::Day => {
                let ending = language.ordinals.iter().find_map(|ending| word.strip_suffix(ending));
                let day = small(ending.unwrap_or(word), 31);
                values.days.extend(day);
                day.is_some()
            }
            Slot::Iso => iso(word, values),
            Slot::When => false,
        }
    }

    /// Whether a bare number in a longer text is plausibly a year; with a month or a day it always
    /// is.
    fn likely(&self, reading: &Reading) -> bool {
        let bare = reading.means == Means::Year
            || (reading.means == Means::Iso && reading.values.days.is_empty());
        match (self.place, reading.values.year) {
            (Place::Inside { this_year }, Some(year)) if bare => {
                (1990..=this_year.saturating_add(1)).contains(&year)
            }
            _ => true,
        }
    }

    /// Whether the word at `at` continues the one before it.
    fn joined(&self, at: usize, comma: bool) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let (Some(before), Some(token)) = (before, self.tokens.get(at)) else { return false };
        let open = match before.tail {
            Tail::Open => true,
            Tail::Comma => comma,
            Tail::Dot => self.grammar.language.short.contains(&before.word.as_str()),
            Tail::Stop => false,
        };
        open && !token.opens
    }

    /// Whether the phrase ends in a number that counts the next word.
    fn counts(&self, end: usize) -> bool {
        let last = end.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.is_some_and(|token| token.word.bytes().all(|byte| byte.is_ascii_digit()))
            && self.is_one_of(end, self.grammar.language.counted)
            && self.joined(end, false)
    }

    fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| words.contains(&token.word.as_str()))
    }
}

/// Progress through a rule.
#[derive(Debug, Clone)]
struct Walk {
    at: usize,
    /// Whether a comma may precede the next word.
    comma: bool,
    values: Values,
}

impl Walk {
    fn step(self) -> Self {
        Self { at: self.at + 1, comma: false, ..self }
    }
}

fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

fn look_up<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn named(words: &[(&str, i8, Sure)], word: &str, wanted: Sure) -> Option<i8> {
    let (_, value, sure) = words.iter().find(|(name, ..)| *name == word)?;
    (wanted == Sure::No || *sure == Sure::Yes).then_some(*value)
}

/// Parses a positive number of at most `digits_max` digits without leading zeros.
fn number(word: &str, digits_max: usize) -> Option<i16> {
    let plain = (1..=digits_max).contains(&word.len()) && !word.starts_with('0');
    digits(word, word.len()).filter(|_| plain)
}

fn small(word: &str, max: i8) -> Option<i8> {
    let word = word.strip_prefix('0').filter(|rest| rest.len() == 1).unwrap_or(word);
    number(word, 2).and_then(|n| i8::try_from(n).ok()).filter(|n| *n <= max)
}

/// Parses `2026-11-14`, `2026-11`, `2026-W46` and `2026-Q3`.
fn iso(word: &str, values: &mut Values) -> bool {
    let Some((of, rest)) = word.split_once('-') else { return false };
    if !put(&mut values.year, year(of)) {
        return false;
    }
    let two = |text: &str| digits(text, 2).and_then(|n| i8::try_from(n).ok());
    if let Some(week) = rest.strip_prefix('w') {
        return put(&mut values.week, two(week));
    }
    if let Some(quarter) = rest.strip_prefix('q') {
        return put(&mut values.quarter, small(quarter, 4));
    }
    let (month, day) = rest.split_once('-').map_or((rest, None), |(m, d)| (m, Some(d)));
    let day = day.map(two);
    values.days.extend(day.flatten());
    put(&mut values.month, two(month)) && day != Some(None)
}

fn year(word: &str) -> Option<i16> {
    digits(word, 4).filter(|year| *year >= 1970)
}
