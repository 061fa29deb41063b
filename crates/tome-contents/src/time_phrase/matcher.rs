//! Matches words against the rules of a language.

use std::ops::Range;

use super::language::{
    Grammar, PhraseMeaning, RulePart, RuleSlot, RuleVariant, TimeCue, TimeUnit, WordCertainty,
};
use super::token::{PhraseToken, TrailingPunctuation};
use tome_model::parse_digits;

/// A parsed phrase: its meaning and the values of its slots.
#[derive(Debug, Clone)]
pub(super) struct ParsedPhrase {
    pub meaning: PhraseMeaning,
    pub values: SlotValues,
}

/// The values of a rule's slots.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotValues {
    pub count: Option<i64>,
    pub unit: Option<TimeUnit>,
    pub weekday: Option<i8>,
    pub month: Option<i8>,
    pub days: Vec<i8>,
    pub year: Option<i16>,
    pub quarter: Option<i8>,
    pub week: Option<i8>,
    pub nested: Vec<ParsedPhrase>,
}

/// A match, and the index of the word after it.
#[derive(Debug)]
pub(super) struct PhraseMatch {
    pub end: usize,
    pub phrase: ParsedPhrase,
}

/// The kind of text that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextContext {
    /// A text that is only a time.
    Alone,
    /// A longer text, in which a bare number is a year only if it is close to this one.
    Inside { this_year: i16 },
}

/// Finds phrases in a list of words.
pub(super) struct PhraseMatcher<'a> {
    grammar: &'a Grammar,
    tokens: &'a [PhraseToken],
    context: TextContext,
}

impl<'a> PhraseMatcher<'a> {
    pub fn new(grammar: &'a Grammar, tokens: &'a [PhraseToken], context: TextContext) -> Self {
        Self { grammar, tokens, context }
    }

    /// Returns the phrases that start at a word, with or without preposition and article, longest
    /// first.
    pub fn find_phrases(&self, start: usize) -> Vec<PhraseMatch> {
        let language = self.grammar.language;
        let mut mark =
            if self.context == TextContext::Alone { TimeCue::Time } else { TimeCue::None };
        let mut found = self.match_rules(start, mark, true);
        let mut next = start;
        if self.is_one_of(next, language.prepositions) && self.is_adjacent(next + 1, false) {
            next += 1;
            mark = mark.max(TimeCue::Preposition);
            found.extend(self.match_rules(next, mark, true));
        }
        if self.is_one_of(next, language.articles) && self.is_adjacent(next + 1, false) {
            found.extend(self.match_rules(next + 1, mark, true));
        }
        found.retain(|phrase| !self.is_count(phrase.end));
        // A stable sort: among the longest, the first rule wins.
        found.sort_by_key(|phrase| std::cmp::Reverse(phrase.end));
        found
    }

    /// The byte range of the words `start..end`.
    pub fn byte_range(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let last = self.tokens.get(end.checked_sub(1)?)?;
        Some(self.tokens.get(start)?.range.start..last.range.end)
    }

    fn match_rules(&self, start: usize, mark: TimeCue, compounds: bool) -> Vec<PhraseMatch> {
        let paths = self.grammar.paths.iter();
        let fitting = paths.filter(|path| path.needs <= mark && (compounds || !path.compound));
        let mut found = Vec::new();
        for path in fitting {
            let walk = RuleProgress { at: start, comma: false, values: SlotValues::default() };
            self.match_parts(path, start, &path.parts, walk, &mut found);
        }
        found
    }

    /// Follows the parts of a rule; one with nested phrases may end at several words.
    fn match_parts(
        &self,
        path: &RuleVariant,
        start: usize,
        parts: &[RulePart],
        mut walk: RuleProgress,
        found: &mut Vec<PhraseMatch>,
    ) {
        let Some((part, rest)) = parts.split_first() else {
            let phrase = ParsedPhrase { meaning: path.meaning, values: walk.values };
            if self.is_plausible_year(&phrase) {
                found.push(PhraseMatch { end: walk.at, phrase });
            }
            return;
        };
        if let RulePart::Comma = part {
            walk.comma = true;
            return self.match_parts(path, start, rest, walk, found);
        }
        if walk.at > start && !self.is_adjacent(walk.at, walk.comma) {
            return;
        }
        match part {
            RulePart::Words(words) if self.is_one_of(walk.at, words) => {
                self.match_parts(path, start, rest, walk.advance(), found);
            }
            RulePart::Slot(RuleSlot::When) => {
                // After a word such as `since`, a time follows.
                let led = matches!(path.parts.first(), Some(RulePart::Words(_)));
                let marked = led || self.context == TextContext::Alone;
                let mark = if marked { TimeCue::Time } else { TimeCue::None };
                for inner in self.match_nested(walk.at, mark) {
                    let mut walk = RuleProgress { at: inner.end, comma: false, ..walk.clone() };
                    walk.values.nested.push(inner.phrase);
                    self.match_parts(path, start, rest, walk, found);
                }
            }
            RulePart::Slot(slot) if self.parse_slot(*slot, walk.at, &mut walk.values) => {
                self.match_parts(path, start, rest, walk.advance(), found);
            }
            _ => {}
        }
    }

    /// Phrases nested in a phrase; these cannot nest further.
    fn match_nested(&self, at: usize, mark: TimeCue) -> Vec<PhraseMatch> {
        let article = self.is_one_of(at, self.grammar.language.articles);
        let at = if article && self.is_adjacent(at + 1, false) { at + 1 } else { at };
        let mut found = self.match_rules(at, mark, false);
        found.retain(|phrase| !self.is_count(phrase.end));
        found
    }

    /// Parses the word at `at` as the value of a slot.
    fn parse_slot(&self, slot: RuleSlot, at: usize, values: &mut SlotValues) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let (word, language) = (token.word.as_str(), self.grammar.language);
        match slot {
            RuleSlot::Count => {
                values.count = parse_number(word, 4).map(i64::from).or_else(|| {
                    language.numbers.iter().find(|(name, _)| *name == word).map(|(_, n)| *n)
                });
                values.count.is_some()
            }
            RuleSlot::Unit => set_value(&mut values.unit, find_word(language.units, word)),
            RuleSlot::Weekday(sure) => {
                set_value(&mut values.weekday, find_sure_word(language.weekdays, word, sure))
            }
            RuleSlot::Month(sure) => {
                set_value(&mut values.month, find_sure_word(language.months, word, sure))
            }
            RuleSlot::Quarter => set_value(&mut values.quarter, find_word(language.quarters, word)),
            RuleSlot::Year => set_value(&mut values.year, parse_year(word)),
            RuleSlot::Week => set_value(&mut values.week, parse_small_number(word, 53)),
            RuleSlot::WeekLabel => {
                let number =
                    word.strip_prefix('w').and_then(|number| parse_small_number(number, 53));
                set_value(&mut values.week, number)
            }
            RuleSlot::Day => {
                let ending = language.ordinals.iter().find_map(|ending| word.strip_suffix(ending));
                let day = parse_small_number(ending.unwrap_or(word), 31);
                values.days.extend(day);
                day.is_some()
            }
            RuleSlot::Iso => parse_iso(word, values),
            RuleSlot::When => false,
        }
    }

    /// Whether a bare number in a longer text is plausibly a year; with a month or a day it always
    /// is.
    fn is_plausible_year(&self, phrase: &ParsedPhrase) -> bool {
        let bare = phrase.meaning == PhraseMeaning::Year
            || (phrase.meaning == PhraseMeaning::Iso && phrase.values.days.is_empty());
        match (self.context, phrase.values.year) {
            (TextContext::Inside { this_year }, Some(year)) if bare => {
                (1990..=this_year.saturating_add(1)).contains(&year)
            }
            _ => true,
        }
    }

    /// Whether the word at `at` continues the one before it.
    fn is_adjacent(&self, at: usize, comma: bool) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let (Some(before), Some(token)) = (before, self.tokens.get(at)) else { return false };
        let open = match before.tail {
            TrailingPunctuation::Open => true,
            TrailingPunctuation::Comma => comma,
            TrailingPunctuation::Dot => self.grammar.language.short.contains(&before.word.as_str()),
            TrailingPunctuation::Stop => false,
        };
        open && !token.opens
    }

    /// Whether the phrase ends in a number that counts the next word.
    fn is_count(&self, end: usize) -> bool {
        let last = end.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.is_some_and(|token| token.word.bytes().all(|byte| byte.is_ascii_digit()))
            && self.is_one_of(end, self.grammar.language.counted)
            && self.is_adjacent(end, false)
    }

    fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| words.contains(&token.word.as_str()))
    }
}

/// Progress through a rule.
#[derive(Debug, Clone)]
struct RuleProgress {
    at: usize,
    /// Whether a comma may precede the next word.
    comma: bool,
    values: SlotValues,
}

impl RuleProgress {
    fn advance(self) -> Self {
        Self { at: self.at + 1, comma: false, ..self }
    }
}

fn set_value<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    *slot = value;
    slot.is_some()
}

fn find_word<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn find_sure_word(
    words: &[(&str, i8, WordCertainty)],
    word: &str,
    wanted: WordCertainty,
) -> Option<i8> {
    let (_, value, sure) = words.iter().find(|(name, ..)| *name == word)?;
    (wanted == WordCertainty::No || *sure == WordCertainty::Yes).then_some(*value)
}

/// Parses a positive number of at most `digits_max` digits without leading zeros.
fn parse_number(word: &str, digits_max: usize) -> Option<i16> {
    let plain = (1..=digits_max).contains(&word.len()) && !word.starts_with('0');
    parse_digits(word, word.len()).filter(|_| plain)
}

fn parse_small_number(word: &str, max: i8) -> Option<i8> {
    let word = word.strip_prefix('0').filter(|rest| rest.len() == 1).unwrap_or(word);
    parse_number(word, 2).and_then(|n| i8::try_from(n).ok()).filter(|n| *n <= max)
}

/// Parses `2026-11-14`, `2026-11`, `2026-W46` and `2026-Q3`.
fn parse_iso(word: &str, values: &mut SlotValues) -> bool {
    let Some((of, rest)) = word.split_once('-') else { return false };
    if !set_value(&mut values.year, parse_year(of)) {
        return false;
    }
    let two = |text: &str| parse_digits(text, 2).and_then(|n| i8::try_from(n).ok());
    if let Some(week) = rest.strip_prefix('w') {
        return set_value(&mut values.week, two(week));
    }
    if let Some(quarter) = rest.strip_prefix('q') {
        return set_value(&mut values.quarter, parse_small_number(quarter, 4));
    }
    let (month, day) = rest.split_once('-').map_or((rest, None), |(m, d)| (m, Some(d)));
    let day = day.map(two);
    values.days.extend(day.flatten());
    set_value(&mut values.month, two(month)) && day != Some(None)
}

fn parse_year(word: &str) -> Option<i16> {
    parse_digits(word, 4).filter(|year| *year >= 1970)
}
