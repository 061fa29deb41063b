//! Quality and position of a match.

use std::ops::Range;

use tome_text::{extends_grapheme, is_unspaced};

use super::limits::WINDOW_BYTES_MAX;

/// About 120 words, or 230 characters of a script without spaces: a typical passage.
const PASSAGE_BYTES: f32 = 700.0;

/// Whether the text contains the whole query verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExactMatch {
    No,
    /// Yes, as part of longer words.
    InsideWords,
    /// Yes, between word boundaries.
    WholeWords,
}

impl ExactMatch {
    /// Classifies an occurrence of the whole query.
    pub(super) fn classify(text: &str, range: &Range<usize>) -> Self {
        if WordPosition::classify(text, range) == WordPosition::WholeWord {
            Self::WholeWords
        } else {
            Self::InsideWords
        }
    }
}

/// A match of a query in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextMatch {
    /// Whether the whole query occurs.
    pub exact: ExactMatch,
    /// Weighted share of the query's terms that occur: above 0, at most 1.
    pub coverage: f32,
    /// How close together they occur: 0 to 1.
    pub closeness: f32,
    /// Number of occurrences.
    pub occurrences: u32,
    /// Length of the text.
    pub bytes: usize,
    /// Byte range of the best window. Empty, at 0, if only the title matches.
    pub range: Range<usize>,
}

/// Result of matching a text against a minimum score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MatchResult {
    NoMatch,
    /// Matches, but scores below the minimum.
    BelowMinimum,
    Match(TextMatch),
}

impl TextMatch {
    /// A match in the title counts slightly less than one in the text.
    pub(super) const TITLE_WEIGHT: f32 = 0.9;

    /// Converts a match of the title into one of the text below it.
    pub(super) fn into_title_match(self) -> Self {
        Self { range: 0..0, coverage: self.coverage * Self::TITLE_WEIGHT, ..self }
    }

    /// Combined score: verbatim matches first, then coverage, closeness and frequency. Long texts
    /// contain a bit of everything, so their score is reduced, to four sevenths at most. The
    /// constants were measured.
    pub fn score(&self) -> f32 {
        let exact = match self.exact {
            ExactMatch::No => 0.0,
            ExactMatch::InsideWords => 2.0,
            ExactMatch::WholeWords => 2.5,
        };
        let often = 1.0 - 1.0 / (1.0 + self.occurrences.min(1_000) as f32);
        let penalty = length_penalty(self.bytes);
        exact + self.coverage * (0.5 + 0.4 * self.closeness + 0.1 * often) / penalty
    }

    /// Upper bound on the score of a text with this coverage that does not contain the whole query.
    pub(super) fn max_score(coverage: f32, bytes: usize) -> f32 {
        // Slightly more, to allow for rounding.
        coverage * 1.000_1 / length_penalty(bytes)
    }
}

/// Divisor that penalizes long texts.
fn length_penalty(bytes: usize) -> f32 {
    let passages = (bytes as f32 / PASSAGE_BYTES).max(1.0);
    1.0 + 0.75 * (1.0 - 1.0 / passages)
}

/// Position of an occurrence relative to word boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordPosition {
    /// In the middle or at the end of a word.
    InsideWord,
    /// At the start of a longer word.
    WordStart,
    /// A whole word.
    WholeWord,
}

impl WordPosition {
    pub fn classify(text: &str, range: &Range<usize>) -> Self {
        let begins = is_word_boundary(text, range.start);
        match (begins, begins && is_word_boundary(text, range.end)) {
            (_, true) => Self::WholeWord,
            (true, _) => Self::WordStart,
            _ => Self::InsideWord,
        }
    }

    pub fn weight(self) -> f32 {
        match self {
            Self::InsideWord => 0.5,
            Self::WordStart => 0.85,
            Self::WholeWord => 1.0,
        }
    }
}

/// Line number of a byte offset, counted from 1.
pub(crate) fn line_number(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().get(..byte.min(text.len())).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).count();
    u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1
}

/// Returns whether a word can start or end here: next to a non-word character, or at a camel-case
/// hump.
fn is_word_boundary(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().next());
    let (Some(before), Some(after)) = (before, after) else { return true };
    let is_part = |c: char| c.is_alphanumeric() || extends_grapheme(c);
    !is_part(before)
        || !is_part(after)
        || is_unspaced(before)
        || is_unspaced(after)
        || (before.is_lowercase() && after.is_uppercase())
}

/// An occurrence of a term or a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    pub start: usize,
    pub end: usize,
    pub pattern: usize,
}

/// Finds the window with the highest total gain, and returns it with that gain. Prefers the
/// shortest, then the first. `occurrences` must be sorted by end.
pub(super) fn find_best_window(
    occurrences: &[Occurrence],
    gains: &[f32],
) -> Option<(Range<usize>, f32)> {
    let gain = |occurrence: &Occurrence| gains.get(occurrence.pattern).copied().unwrap_or_default();
    let mut counts = vec![0_u32; gains.len()];
    let (mut from, mut sum) = (0, 0.0_f32);
    let mut best: Option<(Range<usize>, f32, usize)> = None;
    for (upto, occurrence) in occurrences.iter().enumerate() {
        if let Some(count) = counts.get_mut(occurrence.pattern) {
            *count += 1;
            sum += if *count == 1 { gain(occurrence) } else { 0.0 };
        }
        while let Some(first) = occurrences.get(from).filter(|_| from < upto) {
            let Some(count) = counts.get_mut(first.pattern) else { break };
            let is_far = occurrence.end.saturating_sub(first.start) > WINDOW_BYTES_MAX;
            if *count == 1 && !is_far {
                break;
            }
            *count -= 1;
            sum -= if *count == 0 { gain(first) } else { 0.0 };
            from += 1;
        }
        let span = occurrence
            .end
            .saturating_sub(occurrences.get(from).map_or(occurrence.start, |it| it.start));
        let is_better = best.as_ref().is_none_or(|(_, most, shortest)| {
            sum > most + 1e-4 || ((sum - most).abs() <= 1e-4 && span < *shortest)
        });
        if is_better {
            best = Some((from..upto + 1, sum, span));
        }
    }
    let (window, sum, _) = best?;
    let inside = occurrences.get(window)?;
    let start = inside.iter().map(|occurrence| occurrence.start).min()?;
    let end = inside.iter().map(|occurrence| occurrence.end).max()?;
    Some((start..end, sum))
}

/// Share of the text's gain that is in the window, reduced for longer windows.
pub(super) fn window_closeness(window: &Range<usize>, gain: f32, all: f32) -> f32 {
    if all <= 0.0 {
        return 0.0;
    }
    let length = window.len().min(WINDOW_BYTES_MAX) as f32 / WINDOW_BYTES_MAX as f32;
    (gain / all).clamp(0.0, 1.0) * (1.0 - 0.5 * length)
}

/// Total gain of the patterns that occur.
pub(super) fn total_gain(occurrences: &[Occurrence], gains: &[f32]) -> f32 {
    let mut seen = vec![false; gains.len()];
    for occurrence in occurrences {
        if let Some(seen) = seen.get_mut(occurrence.pattern) {
            *seen = true;
        }
    }
    gains.iter().zip(seen).filter(|(_, seen)| *seen).map(|(gain, _)| gain).sum()
}
