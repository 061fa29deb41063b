//! Finds evidence for a model's bullets in the source.
//!
//! A bullet is supported by the excerpt that covers the largest weight of its terms, if that
//! reaches the threshold. The excerpt is verbatim text of one event.

use std::collections::{HashMap, HashSet};

use tome_model::{Event, EventKind, Node};
use tome_text::sentences_around;

use super::super::event_text::event_texts;
use super::super::limits::EXCERPT_CHARS_MAX;
use super::super::summarizer::Evidence;
use super::terms::{WeightedTerm, weighted_terms};

/// Percentage of a bullet's weight that an excerpt must cover. Measured on real sessions: 86 % of
/// the sentences of a closing message are found in the events before it, and 9 % in another session
/// about the same code. A lower threshold finds few more of the former and twice as many of the
/// latter.
const THRESHOLD_PERCENT: u32 = 35;
/// Percentage that a second excerpt must add.
const SECOND_THRESHOLD_PERCENT: u32 = 25;
const EXCERPTS_MAX: usize = 2;
/// Child bullets that support one bullet of a period.
const BULLETS_MAX: usize = 3;
/// Bytes of one event that are searched; longer texts are files or logs.
const EVENT_BYTES_MAX: usize = 256 * 1024;

/// The texts of a segment's events, tokenized.
pub(super) struct EventTexts {
    texts: Vec<EventText>,
}

struct EventText {
    event: usize,
    text: String,
    terms: Vec<WeightedTerm>,
    /// Whether a person or an agent wrote it; preferred over tool output.
    spoken: bool,
}

/// The bullets of a period's children, tokenized.
pub(super) struct ChildBullets {
    bullets: Vec<((usize, usize), HashSet<String>)>,
}

/// The terms of a bullet with their weights.
struct BulletTerms {
    weights: HashMap<String, u32>,
    total: u32,
}

/// The best byte range of one text.
struct TermWindow<'a> {
    weight: u32,
    text: &'a EventText,
    start: usize,
    end: usize,
}

impl BulletTerms {
    fn parse(bullet: &str) -> Self {
        let weights: HashMap<String, u32> =
            weighted_terms(bullet).into_iter().map(|term| (term.key, term.weight)).collect();
        let total = weights.values().sum();
        Self { weights, total }
    }

    /// Whether a weight reaches the threshold. One common word never does, unless it is the only
    /// term.
    fn is_enough(&self, weight: u32, percent: u32) -> bool {
        weight > 0 && weight >= 2.min(self.total) && weight * 100 >= self.total * percent
    }
}

impl EventTexts {
    pub(super) fn new(events: &[Event]) -> Self {
        let mut texts = Vec::new();
        for (event, happened) in events.iter().enumerate() {
            let spoken = happened.kind != EventKind::ToolResult;
            let mut left = EVENT_BYTES_MAX;
            for text in event_texts(happened) {
                let text = tome_model::truncate_to(&text, left).to_owned();
                if text.is_empty() {
                    break;
                }
                left -= text.len();
                texts.push(EventText { event, terms: weighted_terms(&text), text, spoken });
            }
        }
        Self { texts }
    }

    /// Returns the excerpts that support a bullet, best first.
    pub(super) fn find_support(&self, bullet: &str) -> Vec<Evidence> {
        let mut wanted = BulletTerms::parse(bullet);
        let mut support: Vec<Evidence> = Vec::new();
        let mut percent = THRESHOLD_PERCENT;
        while support.len() < EXCERPTS_MAX {
            let Some(best) = self.best_window(&wanted.weights) else { break };
            if !wanted.is_enough(best.weight, percent) {
                break;
            }
            let (start, end) = widen_to_excerpt(&best.text.text, best.start, best.end);
            let excerpt = best.text.text.get(start..end).unwrap_or_default().to_owned();
            // The next excerpt need not cover these terms again.
            for term in best.text.terms.iter().filter(|term| term.start >= start && term.end <= end)
            {
                wanted.weights.remove(&term.key);
            }
            support.push(Evidence { event: best.text.event, excerpt });
            percent = SECOND_THRESHOLD_PERCENT;
        }
        support
    }

    fn best_window(&self, weights: &HashMap<String, u32>) -> Option<TermWindow<'_>> {
        let found = self.texts.iter().filter_map(|text| densest_window(text, weights));
        // Ties: prefer messages over tool output, then the shorter range, then the first.
        found.reduce(|best, next| if next.rank() > best.rank() { next } else { best })
    }
}

impl TermWindow<'_> {
    fn rank(&self) -> (u32, bool, std::cmp::Reverse<usize>) {
        (self.weight, self.text.spoken, std::cmp::Reverse(self.end - self.start))
    }
}

impl ChildBullets {
    pub(super) fn new(children: &[Node]) -> Self {
        let mut bullets = Vec::new();
        for (child_index, child) in children.iter().enumerate() {
            for (bullet_index, bullet) in child.bullets.iter().enumerate() {
                let terms = weighted_terms(&bullet.text).into_iter().map(|term| term.key);
                bullets.push(((child_index, bullet_index), terms.collect()));
            }
        }
        Self { bullets }
    }

    /// Returns the child bullets that support a bullet of the period, best first.
    pub(super) fn find_support(&self, bullet: &str) -> Vec<(usize, usize)> {
        let wanted = BulletTerms::parse(bullet);
        let mut found: Vec<(u32, (usize, usize))> = self
            .bullets
            .iter()
            .map(|(indexes, terms)| {
                let held = wanted.weights.iter().filter(|(key, _)| terms.contains(*key));
                (held.map(|(_, weight)| *weight).sum(), *indexes)
            })
            .filter(|(weight, _)| wanted.is_enough(*weight, THRESHOLD_PERCENT))
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let best = found.first().map_or(0, |(weight, _)| *weight);
        found.retain(|(weight, _)| weight * 5 >= best * 4);
        found.truncate(BULLETS_MAX);
        found.into_iter().map(|(_, indexes)| indexes).collect()
    }
}

/// Finds the byte range with the largest weight that fits an excerpt; ties go to the shorter, then
/// the first.
fn densest_window<'a>(
    text: &'a EventText,
    weights: &HashMap<String, u32>,
) -> Option<TermWindow<'a>> {
    let weighted: Vec<(&WeightedTerm, u32)> = text
        .terms
        .iter()
        .filter_map(|term| weights.get(&term.key).map(|weight| (term, *weight)))
        .collect();
    let mut inside: HashMap<&str, usize> = HashMap::new();
    let mut weight = 0;
    let mut first = 0;
    let mut best: Option<TermWindow<'a>> = None;
    for (term, worth) in &weighted {
        let seen = inside.entry(&term.key).or_default();
        *seen += 1;
        weight += if *seen == 1 { *worth } else { 0 };
        // Shrink from the left: drop terms that no longer fit or that occur again later.
        while let Some((head, head_worth)) = weighted.get(first) {
            let again = inside.get(head.key.as_str()).is_some_and(|seen| *seen > 1);
            if !again && fits_excerpt(&text.text, head.start, term.end) {
                break;
            }
            if let Some(seen) = inside.get_mut(head.key.as_str()) {
                *seen -= 1;
                weight -= if *seen == 0 { *head_worth } else { 0 };
            }
            first += 1;
        }
        let Some((head, _)) = weighted.get(first) else { continue };
        let (start, end) = (head.start, term.end.max(head.end));
        let better = best.as_ref().is_none_or(|best| {
            weight > best.weight || (weight == best.weight && end - start < best.end - best.start)
        });
        if better && weight > 0 {
            best = Some(TermWindow { weight, text, start, end });
        }
    }
    best
}

fn fits_excerpt(text: &str, start: usize, end: usize) -> bool {
    // A byte count suffices for most texts.
    end.saturating_sub(start) <= EXCERPT_CHARS_MAX
        || text.get(start..end).is_some_and(|part| part.chars().count() <= EXCERPT_CHARS_MAX)
}

/// Widens a range to its lines if they fit an excerpt, else to its sentences, else by as many words
/// on both sides as fit.
fn widen_to_excerpt(text: &str, start: usize, end: usize) -> (usize, usize) {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line_end = after.find('\n').map_or(text.len(), |at| end + at);
    if fits_excerpt(text, line_start, line_end) {
        return trim_range(text, line_start, line_end);
    }
    let line = text.get(line_start..line_end).unwrap_or_default();
    let sentence = sentences_around(line, start.saturating_sub(line_start)..end - line_start);
    let (sentence_start, sentence_end) = (line_start + sentence.start, line_start + sentence.end);
    if fits_excerpt(text, sentence_start, sentence_end) {
        return trim_range(text, sentence_start, sentence_end);
    }
    let chars = |start, end| text.get(start..end).map_or(0, |part| part.chars().count());
    let room = EXCERPT_CHARS_MAX.saturating_sub(chars(start, end));
    let ahead = extend_left(text, sentence_start, start, room / 2);
    let left = room.saturating_sub(chars(ahead, start));
    trim_range(text, ahead, extend_right(text, end, sentence_end, left))
}

/// Extends at most `chars` characters to the left, to a word boundary.
fn extend_left(text: &str, floor: usize, start: usize, chars: usize) -> usize {
    let before = text.get(floor..start).unwrap_or_default();
    let Some((at, _)) = before.char_indices().rev().take(chars).last() else { return start };
    if at == 0 {
        return floor;
    }
    let reached = before.get(at..).unwrap_or_default();
    // Text without spaces may be cut anywhere.
    reached.find(char::is_whitespace).map_or(floor + at, |blank| floor + at + blank)
}

/// Extends at most `chars` characters to the right, to a word boundary.
fn extend_right(text: &str, end: usize, ceiling: usize, chars: usize) -> usize {
    let after = text.get(end..ceiling).unwrap_or_default();
    let Some((at, _)) = after.char_indices().nth(chars) else { return ceiling };
    let reached = after.get(..at).unwrap_or_default();
    reached.rfind(char::is_whitespace).map_or(end + at, |blank| end + blank)
}

fn trim_range(text: &str, start: usize, end: usize) -> (usize, usize) {
    let part = text.get(start..end).unwrap_or_default();
    let start = start + (part.len() - part.trim_start().len());
    (start, start + part.trim().len())
}
