//! How well a text matches, and where best.

use std::ops::Range;

use tome_text::{extends_grapheme, is_unspaced};

use super::limits::PLACE_BYTES_MAX;

/// About 120 words, or 230 characters of a script without spaces: what is said in one go.
const PASSAGE_BYTES: f32 = 700.0;

/// Whether the query as a whole is in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exact {
    /// It is not.
    No,
    /// It is, inside of longer words.
    Inside,
    /// It is, from the beginning of a word to the end of one.
    Whole,
}

impl Exact {
    /// How the whole query stands where it is.
    pub(super) fn at(text: &str, range: &Range<usize>) -> Self {
        if Stand::of(text, range) == Stand::Alone { Self::Whole } else { Self::Inside }
    }
}

/// How well a text matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    /// Whether the query as a whole is there.
    pub exact: Exact,
    /// How much of the query is there, by the weights of its terms: above 0, at most 1.
    pub coverage: f32,
    /// How much of that is in one place: 0 to 1.
    pub closeness: f32,
    /// How often any of it is there.
    pub times: u32,
    /// How long the text is.
    pub bytes: usize,
    /// The best place, as bytes of the text. Empty, at its beginning, where only the title matches.
    pub range: Range<usize>,
}

/// What a look at one of many texts has found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sighting {
    /// It does not match.
    Nothing,
    /// It matches, and others match better.
    Below,
    /// How well it matches.
    Look(Look),
}

impl Look {
    /// What is said by the title alone counts a little less than what the text says.
    pub(super) const TITLE_WORTH: f32 = 0.9;

    /// The look at a title, for the text under it.
    pub(super) fn by_title(self) -> Self {
        Self { range: 0..0, coverage: self.coverage * Self::TITLE_WORTH, ..self }
    }

    /// One number for all of it: whatever holds the whole query comes first, then what holds more of
    /// it, closer together, more often. A long text has a bit of everything, so what it has counts
    /// less, but never less than four sevenths. Where to draw these lines was measured.
    pub fn score(&self) -> f32 {
        let exact = match self.exact {
            Exact::No => 0.0,
            Exact::Inside => 2.0,
            Exact::Whole => 2.5,
        };
        let often = 1.0 - 1.0 / (1.0 + self.times.min(1_000) as f32);
        let held_back = held_back(self.bytes);
        exact + self.coverage * (0.5 + 0.4 * self.closeness + 0.1 * often) / held_back
    }

    /// No text that has so much of the query, but not as a whole, scores more than this.
    pub(super) fn score_max(coverage: f32, bytes: usize) -> f32 {
        // A little more, for what is lost where numbers are rounded.
        coverage * 1.000_1 / held_back(bytes)
    }
}

/// How much less it counts what a text of this length has.
fn held_back(bytes: usize) -> f32 {
    let passages = (bytes as f32 / PASSAGE_BYTES).max(1.0);
    1.0 + 0.75 * (1.0 - 1.0 / passages)
}

/// How a term stands among the letters around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stand {
    /// In the middle or at the end of a longer word.
    Inside,
    /// At the beginning of a longer word.
    Begins,
    /// As a word of its own.
    Alone,
}

impl Stand {
    /// How a range of the text stands there.
    pub fn of(text: &str, range: &Range<usize>) -> Self {
        let begins = is_edge(text, range.start);
        match (begins, begins && is_edge(text, range.end)) {
            (_, true) => Self::Alone,
            (true, _) => Self::Begins,
            _ => Self::Inside,
        }
    }

    /// What it is worth.
    pub fn worth(self) -> f32 {
        match self {
            Self::Inside => 0.5,
            Self::Begins => 0.85,
            Self::Alone => 1.0,
        }
    }
}

/// The line that a byte is on, from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().get(..byte.min(text.len())).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).count();
    u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1
}

/// Whether a word can begin or end here: no letter or digit goes on, or another hump begins.
fn is_edge(text: &str, at: usize) -> bool {
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

/// A term or a part of one, somewhere in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub start: usize,
    pub end: usize,
    pub pattern: usize,
}

/// The stretch of text with the most in it, by what each pattern gains, and how much that is. Of
/// equal ones the shortest, and of those the first. `places` are in order of their ends.
pub(super) fn best_stretch(places: &[Place], gains: &[f32]) -> Option<(Range<usize>, f32)> {
    let gain = |place: &Place| gains.get(place.pattern).copied().unwrap_or_default();
    let mut counts = vec![0_u32; gains.len()];
    let (mut from, mut sum) = (0, 0.0_f32);
    let mut best: Option<(Range<usize>, f32, usize)> = None;
    for (upto, place) in places.iter().enumerate() {
        if let Some(count) = counts.get_mut(place.pattern) {
            *count += 1;
            sum += if *count == 1 { gain(place) } else { 0.0 };
        }
        while let Some(first) = places.get(from).filter(|_| from < upto) {
            let Some(count) = counts.get_mut(first.pattern) else { break };
            let is_far = place.end.saturating_sub(first.start) > PLACE_BYTES_MAX;
            if *count == 1 && !is_far {
                break;
            }
            *count -= 1;
            sum -= if *count == 0 { gain(first) } else { 0.0 };
            from += 1;
        }
        let span = place.end.saturating_sub(places.get(from).map_or(place.start, |it| it.start));
        let is_better = best.as_ref().is_none_or(|(_, most, shortest)| {
            sum > most + 1e-4 || ((sum - most).abs() <= 1e-4 && span < *shortest)
        });
        if is_better {
            best = Some((from..upto + 1, sum, span));
        }
    }
    let (window, sum, _) = best?;
    let inside = places.get(window)?;
    let start = inside.iter().map(|place| place.start).min()?;
    let end = inside.iter().map(|place| place.end).max()?;
    Some((start..end, sum))
}

/// How much of what a text has is in one stretch of it, and how short that is.
pub(super) fn closeness(stretch: &Range<usize>, gain: f32, all: f32) -> f32 {
    if all <= 0.0 {
        return 0.0;
    }
    let length = stretch.len().min(PLACE_BYTES_MAX) as f32 / PLACE_BYTES_MAX as f32;
    (gain / all).clamp(0.0, 1.0) * (1.0 - 0.5 * length)
}

/// What all patterns gain together that are somewhere.
pub(super) fn places_gain(places: &[Place], gains: &[f32]) -> f32 {
    let mut seen = vec![false; gains.len()];
    for place in places {
        if let Some(seen) = seen.get_mut(place.pattern) {
            *seen = true;
        }
    }
    gains.iter().zip(seen).filter(|(_, seen)| *seen).map(|(gain, _)| gain).sum()
}
