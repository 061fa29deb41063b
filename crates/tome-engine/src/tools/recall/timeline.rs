//! Renders an answer as a timeline of a subject: one line per turn, oldest first, under its day.
//!
//! ```text
//! Timeline of "rate limits" (3 turns, oldest first)
//! 2026-03-10
//!   #12 Which limits does the gateway have? → 300 requests per minute and client.
//!   #31 Raise the limit to 600 requests per minute → Done, with a test.
//! 2026-03-14
//!   #88 Why are we throttled again? → The proxy has a limit of its own.
//! (2 more; cursor 3 continues)
//! ```

use tome_contents::skip_acknowledgment;
use tome_text::first_chars;

use super::pack::{
    AnswerFormat, PackedAnswer, count_more, excerpt_around_match, is_doubtful, render_more,
    shorten_query,
};
use super::render;
use crate::quote::quote_line;
use tome_model::{EventKind, Millis};
use tome_recall::{RecallAnswer, RecallHit};

/// Lengths of a prompt and of its answer, in characters: rather all turns in fewer words than fewer turns.
const LINE_CHARS: [(usize, usize); 4] = [(100, 200), (80, 120), (60, 80), (50, 60)];
const DAY_CHARS: usize = 10;

/// A line of the timeline.
struct TimelineEntry<'a> {
    id: String,
    at: Option<Millis>,
    /// The prompt, or whatever else matched.
    text: &'a str,
    answer: Option<&'a str>,
    /// Its place by relevance.
    position: usize,
}

/// Renders the turns of an answer whose hits are sorted by time, within its token budget. Where not all
/// fit, the most relevant are shown, and the cursor continues with the others.
pub(super) fn pack_timeline(
    answer: &RecallAnswer,
    instructions: &[String],
    format: &AnswerFormat<'_>,
) -> Option<PackedAnswer> {
    let turns = answer.turns();
    let entries: Vec<TimelineEntry<'_>> =
        turns.iter().filter_map(|turn| build_entry(turn)).collect();
    let mut positions: Vec<usize> = entries.iter().map(|entry| entry.position).collect();
    positions.sort_unstable();
    let notes: Vec<String> =
        instructions.iter().cloned().chain(render::render_notes(answer)).collect();
    (1..=entries.len()).rev().find_map(|count| {
        let last = positions.get(count - 1)?;
        let shown: Vec<&TimelineEntry<'_>> =
            entries.iter().filter(|entry| entry.position <= *last).collect();
        let more = render_more(count_more(answer, &turns, count));
        let below: Vec<String> = more.into_iter().chain(notes.iter().cloned()).collect();
        LINE_CHARS.iter().find_map(|chars_max| {
            let text = render_entries(answer, &shown, &below, format, *chars_max);
            let packed = PackedAnswer::new(text, count);
            (packed.tokens <= format.tokens_max as u64).then_some(packed)
        })
    })
}

/// The prompt of a turn and what came of it.
fn build_entry<'a>(hits: &[&'a RecallHit]) -> Option<TimelineEntry<'a>> {
    let first = *hits.first()?;
    let has_kind =
        |hit: &&&RecallHit, kinds: &[EventKind]| kinds.iter().any(|kind| hit.kind == kind.as_str());
    let answers = [EventKind::AssistantMessage, EventKind::AssistantStop];
    let prompt = hits.iter().find_map(|hit| hit.turn.prompt.as_ref());
    let prompt_hit = hits.iter().find(|hit| has_kind(hit, &[EventKind::UserMessage]));
    let answer = hits.iter().find_map(|hit| hit.turn.answer.as_ref());
    let answer = answer.map(|part| part.text.as_str());
    let said = || hits.iter().find(|hit| has_kind(hit, &answers)).map(|hit| hit.text.as_str());
    let (id, text) = match (prompt_hit, prompt) {
        (Some(hit), _) => (hit.id.clone(), hit.text.as_str()),
        (None, Some(prompt)) => {
            (format!("{}#{}", render::project_prefix(first), prompt.number), prompt.text.as_str())
        }
        (None, None) => (first.id.clone(), first.text.as_str()),
    };
    let has_prompt = prompt_hit.is_some() || prompt.is_some();
    Some(TimelineEntry {
        id,
        at: first.at,
        text: skip_acknowledgment(text),
        answer: answer.or_else(said).filter(|_| has_prompt),
        position: first.position,
    })
}

fn render_entries(
    answer: &RecallAnswer,
    entries: &[&TimelineEntry<'_>],
    below: &[String],
    format: &AnswerFormat<'_>,
    (prompt_chars, answer_chars): (usize, usize),
) -> String {
    let query = shorten_query(format.query, format.tokens_max / 4);
    let weak = if is_doubtful(answer) { "; weak matches only" } else { "" };
    let turns = entries.len();
    let mut lines = vec![format!("Timeline of \"{query}\" ({turns} turns, oldest first{weak})")];
    let mut last_day = String::new();
    for entry in entries {
        let day = entry.at.map(|at| first_chars(&at.to_string(), DAY_CHARS).to_owned());
        let day = day.unwrap_or_default();
        if day != last_day {
            lines.push(day.clone());
            last_day = day;
        }
        let line = match entry.answer {
            Some(answer) => {
                let answer = excerpt_around_match(answer, format.query, answer_chars);
                let answer = quote_line(&answer, answer_chars);
                format!("{} → {answer}", quote_line(entry.text, prompt_chars))
            }
            None => quote_line(entry.text, prompt_chars + answer_chars),
        };
        lines.push(format!("  {} {line}", entry.id));
    }
    lines.extend(below.iter().cloned());
    lines.join("\n")
}
