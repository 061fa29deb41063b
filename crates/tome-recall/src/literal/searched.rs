//! Matches texts against a query in words.
//!
//! All terms and their parts are searched in one pass with an Aho-Corasick automaton; a text
//! without any costs only that pass. Phrases are searched only in texts that contain their words.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use tome_text::{FoldedText, with_folded};

use super::limits::PLACES_MAX;
use super::look::{Exact, Look, Place, Sighting, Stand, best_stretch, closeness, places_gain};
use super::phrase::Phrase;
use super::terms::wording;

/// Weight of a term of which only parts occur.
const PARTS_WORTH: f32 = 0.7;
/// Shorter words do not count inside other words: `api` in `rapid`.
const INSIDE_CHARS_MIN: usize = 4;
/// Still shorter ones must be whole words: `go` in `google`.
const BEGINS_CHARS_MIN: usize = 3;
/// Occurrences of the phrase examined to find one between word boundaries.
const PHRASES_MAX: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Searched {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
    terms: Vec<Term>,
    phrase: Option<Phrase>,
    quoted: Vec<Phrase>,
}

/// A search string: a term or a part of one.
#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    weight: f32,
    /// Minimum position to count.
    least: Stand,
    unspaced: bool,
}

#[derive(Debug, Clone)]
struct Term {
    whole: usize,
    parts: Vec<usize>,
}

/// Occurrences of the patterns in a text.
struct Pass {
    /// Best position of each pattern; `None` if it does not occur.
    stands: Vec<Option<Stand>>,
    /// The occurrences that count.
    places: Vec<Place>,
    times: u32,
}

impl Searched {
    /// Parses a query. `None` if it is empty.
    pub fn new(query: &str) -> Option<Self> {
        let wording = wording(query);
        let mut patterns: Vec<Pattern> = Vec::new();
        let mut terms = Vec::new();
        for words in &wording.terms {
            let mut known = |text: &str| {
                let found = patterns.iter().position(|pattern| pattern.text == text);
                found.unwrap_or_else(|| {
                    patterns.push(Pattern::new(text, words.unspaced));
                    patterns.len() - 1
                })
            };
            let whole = known(&words.whole);
            terms.push(Term { whole, parts: words.parts.iter().map(|part| known(part)).collect() });
        }
        if patterns.is_empty() {
            return None;
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| pattern.text.as_str()))
            .ok()?;
        let phrase = wording.phrase.as_deref().map(Phrase::new);
        let quoted = wording.quoted.iter().map(|said| Phrase::new(said)).collect();
        Some(Self { automaton, patterns, terms, phrase, quoted })
    }

    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.text.as_str())
    }

    /// Sets the weight of each pattern; non-finite weights count as 0.
    pub fn weigh(&mut self, weight: impl Fn(&str) -> f32) {
        for pattern in &mut self.patterns {
            let given = weight(&pattern.text);
            pattern.weight = if given.is_finite() { given.clamp(0.0, 1e6) } else { 0.0 };
        }
    }

    pub fn touches(&self, text: &str) -> bool {
        with_folded(text, |folded| self.automaton.is_match(folded.text))
    }

    /// Returns whether no term contains a character that JSON escapes, or that folding turns into
    /// one.
    pub fn is_unescaped(&self) -> bool {
        let is_escaped = |c: char| matches!(c, '"' | '\\') || c.is_control() || c.is_whitespace();
        !self.terms().any(|term| term.contains(is_escaped))
    }

    pub fn look(&self, title: &str, text: &str) -> Option<Look> {
        let above = with_folded(title, |folded| self.pass(folded, title));
        match self.look_under(title, text, above.as_ref(), 0.0) {
            Sighting::Look(look) => Some(look),
            Sighting::Nothing | Sighting::Below => None,
        }
    }

    /// Matches a text, but skips the details if its score is certain to be below `least`.
    pub fn look_above(&self, text: &str, least: f32) -> Sighting {
        self.look_under("", text, None, least)
    }

    fn look_under(&self, title: &str, text: &str, above: Option<&Pass>, least: f32) -> Sighting {
        with_folded(text, |folded| {
            let pass = self.pass(folded, text);
            if pass.is_none() && above.is_none() {
                return Sighting::Nothing;
            }
            self.judge(folded, text, title, pass, above, least)
        })
    }

    /// Scans a text for all patterns. `None` if there are none.
    fn pass(&self, folded: &FoldedText<'_>, text: &str) -> Option<Pass> {
        let mut matches = self.automaton.find_overlapping_iter(folded.text).peekable();
        matches.peek()?;
        let mut pass =
            Pass { stands: vec![None; self.patterns.len()], places: Vec::new(), times: 0 };
        for found in matches {
            let index = found.pattern().as_usize();
            let Some(pattern) = self.patterns.get(index) else { continue };
            let Some(stand) = pass.stands.get_mut(index) else { continue };
            if pass.places.len() >= PLACES_MAX && *stand == Some(Stand::Alone) {
                continue;
            }
            let range = folded.origin(found.start())..folded.origin(found.end());
            let stands = if pattern.unspaced { Stand::Alone } else { Stand::of(text, &range) };
            *stand = (*stand).max(Some(stands));
            if stands >= pattern.least {
                pass.times = pass.times.saturating_add(1);
                if pass.places.len() < PLACES_MAX {
                    pass.places.push(Place { start: range.start, end: range.end, pattern: index });
                }
            }
        }
        Some(pass)
    }

    fn judge(
        &self,
        folded: &FoldedText<'_>,
        text: &str,
        title: &str,
        pass: Option<Pass>,
        above: Option<&Pass>,
        least: f32,
    ) -> Sighting {
        if !self.quoted.iter().all(|said| {
            said.places(folded.text).next().is_some()
                || with_folded(title, |title| said.places(title.text).next().is_some())
        }) {
            return Sighting::Nothing;
        }
        let exact = pass.as_ref().and_then(|pass| self.exact(folded, text, pass));
        let worths = self.worths(pass.as_ref(), above);
        let (coverage, gains) = self.coverage(&worths);
        if coverage <= 0.0 && exact.is_none() {
            return Sighting::Nothing;
        }
        if exact.is_none() && Look::score_max(coverage, text.len()) < least {
            return Sighting::Below;
        }
        let (places, times) = pass.map_or((Vec::new(), 0), |pass| (pass.places, pass.times));
        let stretch = best_stretch(&places, &gains);
        let closeness = stretch
            .as_ref()
            .map_or(0.0, |(range, gain)| closeness(range, *gain, places_gain(&places, &gains)));
        let (exact, range) = match (exact, stretch) {
            (Some((exact, range)), _) => (exact, range),
            (None, Some((range, _))) => (Exact::No, range),
            (None, None) => (Exact::No, 0..0),
        };
        let (coverage, bytes) = (coverage.max(f32::MIN_POSITIVE), text.len());
        Sighting::Look(Look { exact, coverage, closeness, times, bytes, range })
    }

    /// Finds the whole query, preferably between word boundaries.
    fn exact(
        &self,
        folded: &FoldedText<'_>,
        text: &str,
        pass: &Pass,
    ) -> Option<(Exact, Range<usize>)> {
        let is_there = |term: &Term| pass.stands.get(term.whole).is_some_and(Option::is_some);
        if !self.terms.iter().all(is_there) {
            return None;
        }
        let places = self.phrase.as_ref()?.places(folded.text).take(PHRASES_MAX);
        let places = places.map(|place| folded.origin(place.start)..folded.origin(place.end));
        let mut first = None;
        for range in places {
            match Exact::at(text, &range) {
                Exact::Whole => return Some((Exact::Whole, range)),
                exact => {
                    first.get_or_insert((exact, range));
                }
            }
        }
        first
    }

    /// Weight of each pattern's best occurrence, from 0 to 1.
    fn worths(&self, pass: Option<&Pass>, above: Option<&Pass>) -> Vec<f32> {
        let worth = |pass: Option<&Pass>, index: usize, pattern: &Pattern| {
            let stand = pass.and_then(|pass| pass.stands.get(index).copied().flatten());
            stand.filter(|stand| *stand >= pattern.least).map_or(0.0, Stand::worth)
        };
        let each = self.patterns.iter().enumerate();
        each.map(|(index, pattern)| {
            worth(pass, index, pattern).max(worth(above, index, pattern) * Look::TITLE_WORTH)
        })
        .collect()
    }

    /// Returns the weighted share of the query that occurs, and the gain of each pattern.
    fn coverage(&self, worths: &[f32]) -> (f32, Vec<f32>) {
        let worth = |index: usize| worths.get(index).copied().unwrap_or_default();
        let weight = |index: usize| self.patterns.get(index).map_or(0.0, |pattern| pattern.weight);
        let mut gains = vec![0.0_f32; self.patterns.len()];
        let (mut there, mut all, mut plain) = (0.0, 0.0, 0.0);
        for term in &self.terms {
            let parts: f32 = term.parts.iter().map(|part| weight(*part)).sum();
            let found: f32 = term.parts.iter().map(|part| weight(*part) * worth(*part)).sum();
            let share = if parts > 0.0 { PARTS_WORTH * found / parts } else { 0.0 };
            let of_term = worth(term.whole).max(share);
            there += weight(term.whole) * of_term;
            all += weight(term.whole);
            plain += of_term;
            let mut gain = |index: usize, more: f32| {
                if let Some(gain) = gains.get_mut(index) {
                    *gain += more * worth(index);
                }
            };
            gain(term.whole, weight(term.whole).max(1e-3));
            for part in &term.parts {
                let share = if parts > 0.0 { weight(*part) / parts } else { 0.0 };
                gain(*part, PARTS_WORTH * weight(term.whole) * share);
            }
        }
        // If no term has a weight, all count the same.
        let coverage = if all > 0.0 { there / all } else { plain / self.terms.len().max(1) as f32 };
        (coverage, gains)
    }
}

impl Pattern {
    fn new(text: &str, unspaced: bool) -> Self {
        let least = match text.chars().take(INSIDE_CHARS_MIN).count() {
            chars if chars >= INSIDE_CHARS_MIN || unspaced => Stand::Inside,
            chars if chars >= BEGINS_CHARS_MIN => Stand::Begins,
            _ => Stand::Alone,
        };
        let is_marks = !text.contains(char::is_alphanumeric);
        let least = if is_marks { Stand::Inside } else { least };
        Self { text: text.to_owned(), weight: 1.0, least, unspaced: unspaced || is_marks }
    }
}
