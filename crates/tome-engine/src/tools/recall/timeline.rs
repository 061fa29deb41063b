//! Renders an answer as a timeline of a subject: one line per turn, oldest first, under its day.
//!
//! ```text
//! Timeline of "rate limits" (3 turns, oldest first)
//! 2026-03-10
//!   #12 Which limits does the gateway have?
//!   #31 Raise the limit to 600 requests per minute
//! 2026-03-14
//!   #88 Why are we throttled again?
//! (2 more; cursor 3 continues)
//! ```

use std::collections::BTreeSet;

use tome_contents::skip_acknowledgment;
use tome_text::first_chars;

use super::pack::{AnswerFormat, PackedAnswer, shorten_query};
use super::render;
use crate::quote::quote_line;
use tome_recall::{Confidence, RecallAnswer, RecallHit};

/// Lengths of a line, in characters: rather all turns in fewer words than fewer turns.
const LINE_CHARS: [usize; 4] = [160, 130, 100, 80];
const DAY_CHARS: usize = 10;

/// A line of the timeline.
struct TimelineEntry<'a> {
    id: String,
    text: &'a str,
    hit: &'a RecallHit,
}

/// Renders the turns of an answer whose hits are sorted by time, within its token budget. Where not all
/// fit, the least relevant are left out.
pub(super) fn pack_timeline(
    answer: &RecallAnswer,
    instructions: &[String],
    format: &AnswerFormat<'_>,
) -> Option<PackedAnswer> {
    let mut entries = collect_entries(&answer.hits);
    let notes: Vec<String> =
        instructions.iter().cloned().chain(render::render_notes(answer)).collect();
    while !entries.is_empty() {
        let fits = LINE_CHARS.iter().find_map(|chars_max| {
            let text = render_entries(answer, &entries, &notes, format, *chars_max);
            let packed = PackedAnswer::new(text, answer.hits.len());
            (packed.tokens <= format.tokens_max as u64).then_some(packed)
        });
        if fits.is_some() {
            return fits;
        }
        let worst = (0..entries.len()).min_by(|a, b| {
            let score = |at: &usize| entries.get(*at).map_or(0.0, |entry| entry.hit.score);
            score(a).total_cmp(&score(b))
        })?;
        entries.remove(worst);
    }
    None
}

/// One entry per turn, named by its prompt.
fn collect_entries(hits: &[RecallHit]) -> Vec<TimelineEntry<'_>> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for hit in hits {
        let (id, text) = match &hit.turn.prompt {
            Some(prompt) => (format!("#{}", prompt.number), skip_acknowledgment(&prompt.text)),
            None => (hit.id.clone(), hit.text.as_str()),
        };
        if seen.insert(id.clone()) {
            entries.push(TimelineEntry { id, text, hit });
        }
    }
    entries
}

fn render_entries(
    answer: &RecallAnswer,
    entries: &[TimelineEntry<'_>],
    notes: &[String],
    format: &AnswerFormat<'_>,
    chars_max: usize,
) -> String {
    let query = shorten_query(format.query, format.tokens_max / 4);
    let weak = if answer.confidence == Some(Confidence::Weak) { "; weak matches only" } else { "" };
    let turns = entries.len();
    let mut lines = vec![format!("Timeline of \"{query}\" ({turns} turns, oldest first{weak})")];
    let mut last_day = String::new();
    for entry in entries {
        let day = entry.hit.at.map(|at| first_chars(&at.to_string(), DAY_CHARS).to_owned());
        let day = day.unwrap_or_default();
        if day != last_day {
            lines.push(day.clone());
            last_day = day;
        }
        lines.push(format!("  {} {}", entry.id, quote_line(entry.text, chars_max)));
    }
    if answer.more > 0 {
        let next = format.skip + answer.hits.len();
        lines.push(format!("({} more; cursor {next} continues)", answer.more));
    }
    lines.extend(notes.iter().cloned());
    lines.join("\n")
}
