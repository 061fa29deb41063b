//! Matches texts against a query in words.
//!
//! All terms and their parts are searched in one pass with an Aho-Corasick automaton; a text
//! without any costs only that pass. Phrases are searched only in texts that contain their words.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use tome_text::{FoldedText, with_folded};

use super::limits::OCCURRENCES_MAX;
use super::phrase::PhrasePattern;
use super::query_parser::parse_query;
use super::text_match::{
    ExactMatch, MatchResult, Occurrence, TextMatch, WordPosition, find_best_window, total_gain,
    window_closeness,
};

/// Weight of a term of which only parts occur.
const PARTS_WEIGHT: f32 = 0.7;
/// Shorter words do not count inside other words: `api` in `rapid`.
const INSIDE_CHARS_MIN: usize = 4;
/// Still shorter ones must be whole words: `go` in `google`.
const WORD_START_CHARS_MIN: usize = 3;
/// Occurrences of the phrase examined to find one between word boundaries.
const PHRASES_MAX: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct WordQuery {
    automaton: AhoCorasick,
    patterns: Vec<SearchPattern>,
    terms: Vec<PatternTerm>,
    phrase: Option<PhrasePattern>,
    quoted: Vec<PhrasePattern>,
}

/// A search string: a term or a part of one.
#[derive(Debug, Clone)]
struct SearchPattern {
    text: String,
    weight: f32,
    /// Minimum position to count.
    min_position: WordPosition,
    unspaced: bool,
}

#[derive(Debug, Clone)]
struct PatternTerm {
    whole: usize,
    parts: Vec<usize>,
}

/// Occurrences of the patterns in a text.
struct PatternOccurrences {
    /// Best position of each pattern; `None` if it does not occur.
    positions: Vec<Option<WordPosition>>,
    /// The occurrences that count.
    occurrences: Vec<Occurrence>,
    count: u32,
}

impl WordQuery {
    /// Parses a query. `None` if it is empty.
    pub fn new(query: &str) -> Option<Self> {
        let wording = parse_query(query);
        let mut patterns: Vec<SearchPattern> = Vec::new();
        let mut terms = Vec::new();
        for words in &wording.terms {
            let mut pattern_index = |text: &str| {
                let found = patterns.iter().position(|pattern| pattern.text == text);
                found.unwrap_or_else(|| {
                    patterns.push(SearchPattern::new(text, words.unspaced));
                    patterns.len() - 1
                })
            };
            let whole = pattern_index(&words.whole);
            terms.push(PatternTerm {
                whole,
                parts: words.parts.iter().map(|part| pattern_index(part)).collect(),
            });
        }
        if patterns.is_empty() {
            return None;
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| pattern.text.as_str()))
            .ok()?;
        let phrase = wording.phrase.as_deref().map(PhrasePattern::new);
        let quoted = wording.quoted.iter().map(|phrase| PhrasePattern::new(phrase)).collect();
        Some(Self { automaton, patterns, terms, phrase, quoted })
    }

    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.text.as_str())
    }

    /// Sets the weight of each pattern; non-finite weights count as 0.
    pub fn set_weights(&mut self, weight: impl Fn(&str) -> f32) {
        for pattern in &mut self.patterns {
            let given = weight(&pattern.text);
            pattern.weight = if given.is_finite() { given.clamp(0.0, 1e6) } else { 0.0 };
        }
    }

    pub fn contains_any(&self, text: &str) -> bool {
        with_folded(text, |folded| self.automaton.is_match(folded.text))
    }

    /// Returns whether no term contains a character that JSON escapes, or that folding turns into
    /// one.
    pub fn is_json_safe(&self) -> bool {
        let is_escaped = |c: char| matches!(c, '"' | '\\') || c.is_control() || c.is_whitespace();
        !self.terms().any(|term| term.contains(is_escaped))
    }

    pub fn match_text(&self, title: &str, text: &str) -> Option<TextMatch> {
        let above = with_folded(title, |folded| self.find_patterns(folded, title));
        match self.match_with_title(title, text, above.as_ref(), 0.0) {
            MatchResult::Match(text_match) => Some(text_match),
            MatchResult::NoMatch | MatchResult::BelowMinimum => None,
        }
    }

    /// Matches a text, but skips the details if its score is certain to be below `least`.
    pub fn match_above(&self, text: &str, least: f32) -> MatchResult {
        self.match_with_title("", text, None, least)
    }

    fn match_with_title(
        &self,
        title: &str,
        text: &str,
        above: Option<&PatternOccurrences>,
        least: f32,
    ) -> MatchResult {
        with_folded(text, |folded| {
            let pass = self.find_patterns(folded, text);
            if pass.is_none() && above.is_none() {
                return MatchResult::NoMatch;
            }
            self.build_match(folded, text, title, pass, above, least)
        })
    }

    /// Scans a text for all patterns. `None` if there are none.
    fn find_patterns(&self, folded: &FoldedText<'_>, text: &str) -> Option<PatternOccurrences> {
        let mut matches = self.automaton.find_overlapping_iter(folded.text).peekable();
        matches.peek()?;
        let mut pass = PatternOccurrences {
            positions: vec![None; self.patterns.len()],
            occurrences: Vec::new(),
            count: 0,
        };
        for found in matches {
            let index = found.pattern().as_usize();
            let Some(pattern) = self.patterns.get(index) else { continue };
            let Some(stand) = pass.positions.get_mut(index) else { continue };
            if pass.occurrences.len() >= OCCURRENCES_MAX && *stand == Some(WordPosition::WholeWord)
            {
                continue;
            }
            let range = folded.original_offset(found.start())..folded.original_offset(found.end());
            let stands = if pattern.unspaced {
                WordPosition::WholeWord
            } else {
                WordPosition::classify(text, &range)
            };
            *stand = (*stand).max(Some(stands));
            if stands >= pattern.min_position {
                pass.count = pass.count.saturating_add(1);
                if pass.occurrences.len() < OCCURRENCES_MAX {
                    pass.occurrences.push(Occurrence {
                        start: range.start,
                        end: range.end,
                        pattern: index,
                    });
                }
            }
        }
        Some(pass)
    }

    fn build_match(
        &self,
        folded: &FoldedText<'_>,
        text: &str,
        title: &str,
        pass: Option<PatternOccurrences>,
        above: Option<&PatternOccurrences>,
        least: f32,
    ) -> MatchResult {
        if !self.quoted.iter().all(|phrase| {
            phrase.find_occurrences(folded.text).next().is_some()
                || with_folded(title, |title| phrase.find_occurrences(title.text).next().is_some())
        }) {
            return MatchResult::NoMatch;
        }
        let exact = pass.as_ref().and_then(|pass| self.find_exact(folded, text, pass));
        let worths = self.pattern_weights(pass.as_ref(), above);
        let (coverage, gains) = self.compute_coverage(&worths);
        if coverage <= 0.0 && exact.is_none() {
            return MatchResult::NoMatch;
        }
        if exact.is_none() && TextMatch::max_score(coverage, text.len()) < least {
            return MatchResult::BelowMinimum;
        }
        let (occurrences, times) =
            pass.map_or((Vec::new(), 0), |pass| (pass.occurrences, pass.count));
        let window = find_best_window(&occurrences, &gains);
        let closeness = window.as_ref().map_or(0.0, |(range, gain)| {
            window_closeness(range, *gain, total_gain(&occurrences, &gains))
        });
        let (exact, range) = match (exact, window) {
            (Some((exact, range)), _) => (exact, range),
            (None, Some((range, _))) => (ExactMatch::No, range),
            (None, None) => (ExactMatch::No, 0..0),
        };
        let (coverage, bytes) = (coverage.max(f32::MIN_POSITIVE), text.len());
        MatchResult::Match(TextMatch {
            exact,
            coverage,
            closeness,
            occurrences: times,
            bytes,
            range,
        })
    }

    /// Finds the whole query, preferably between word boundaries.
    fn find_exact(
        &self,
        folded: &FoldedText<'_>,
        text: &str,
        pass: &PatternOccurrences,
    ) -> Option<(ExactMatch, Range<usize>)> {
        let is_there =
            |term: &PatternTerm| pass.positions.get(term.whole).is_some_and(Option::is_some);
        if !self.terms.iter().all(is_there) {
            return None;
        }
        let occurrences = self.phrase.as_ref()?.find_occurrences(folded.text).take(PHRASES_MAX);
        let ranges = occurrences
            .map(|range| folded.original_offset(range.start)..folded.original_offset(range.end));
        let mut first = None;
        for range in ranges {
            match ExactMatch::classify(text, &range) {
                ExactMatch::WholeWords => return Some((ExactMatch::WholeWords, range)),
                exact => {
                    first.get_or_insert((exact, range));
                }
            }
        }
        first
    }

    /// Weight of each pattern's best occurrence, from 0 to 1.
    fn pattern_weights(
        &self,
        pass: Option<&PatternOccurrences>,
        above: Option<&PatternOccurrences>,
    ) -> Vec<f32> {
        let occurrence_weight = |pass: Option<&PatternOccurrences>,
                                 index: usize,
                                 pattern: &SearchPattern| {
            let stand = pass.and_then(|pass| pass.positions.get(index).copied().flatten());
            stand.filter(|stand| *stand >= pattern.min_position).map_or(0.0, WordPosition::weight)
        };
        let each = self.patterns.iter().enumerate();
        each.map(|(index, pattern)| {
            occurrence_weight(pass, index, pattern)
                .max(occurrence_weight(above, index, pattern) * TextMatch::TITLE_WEIGHT)
        })
        .collect()
    }

    /// Returns the weighted share of the query that occurs, and the gain of each pattern.
    fn compute_coverage(&self, occurrence_weights: &[f32]) -> (f32, Vec<f32>) {
        let found_weight =
            |index: usize| occurrence_weights.get(index).copied().unwrap_or_default();
        let weight = |index: usize| self.patterns.get(index).map_or(0.0, |pattern| pattern.weight);
        let mut gains = vec![0.0_f32; self.patterns.len()];
        let (mut there, mut all, mut plain) = (0.0, 0.0, 0.0);
        for term in &self.terms {
            let parts: f32 = term.parts.iter().map(|part| weight(*part)).sum();
            let found: f32 =
                term.parts.iter().map(|part| weight(*part) * found_weight(*part)).sum();
            let share = if parts > 0.0 { PARTS_WEIGHT * found / parts } else { 0.0 };
            let of_term = found_weight(term.whole).max(share);
            there += weight(term.whole) * of_term;
            all += weight(term.whole);
            plain += of_term;
            let mut gain = |index: usize, more: f32| {
                if let Some(gain) = gains.get_mut(index) {
                    *gain += more * found_weight(index);
                }
            };
            gain(term.whole, weight(term.whole).max(1e-3));
            for part in &term.parts {
                let share = if parts > 0.0 { weight(*part) / parts } else { 0.0 };
                gain(*part, PARTS_WEIGHT * weight(term.whole) * share);
            }
        }
        // If no term has a weight, all count the same.
        let coverage = if all > 0.0 { there / all } else { plain / self.terms.len().max(1) as f32 };
        (coverage, gains)
    }
}

impl SearchPattern {
    fn new(text: &str, unspaced: bool) -> Self {
        let least = match text.chars().take(INSIDE_CHARS_MIN).count() {
            chars if chars >= INSIDE_CHARS_MIN || unspaced => WordPosition::InsideWord,
            chars if chars >= WORD_START_CHARS_MIN => WordPosition::WordStart,
            _ => WordPosition::WholeWord,
        };
        let is_marks = !text.contains(char::is_alphanumeric);
        let least = if is_marks { WordPosition::InsideWord } else { least };
        Self {
            text: text.to_owned(),
            weight: 1.0,
            min_position: least,
            unspaced: unspaced || is_marks,
        }
    }
}
