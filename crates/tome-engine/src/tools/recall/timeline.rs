//! Renders an answer as a timeline of a subject: one line per turn, oldest first, under its day.
//!
//! ```text
//! Timeline of "rate limits" (3 turns, oldest first)
//! Tue 2026-03-10
//!   #12 Which limits does the gateway have? → 300 requests per minute and client.
//!   #31 Raise the limit to 600 requests per minute → Done, with a test.
//! Sat 2026-03-14
//!   #88 Why are we throttled again? → The proxy has a limit of its own.
//! (2 more; cursor 3 continues)
//! ```

use tome_contents::skip_acknowledgment;
use tome_text::content_stems;

use super::pack::{
    AnswerFormat, PackedAnswer, count_more, excerpt_around_match, is_doubtful, render_more,
    shorten_query,
};
use super::render;
use crate::quote::quote_line;
use tome_model::Millis;
use tome_recall::{RecallAnswer, RecallHit, TurnOutline};

/// Lengths of a line, in characters: rather all turns in fewer words than fewer turns, as long as a line still
/// tells what the turn was about.
const LINE_CHARS: [usize; 4] = [360, 270, 210, 160];
/// Characters that a prompt leaves to its answer at least, as a share of the line.
const ANSWER_SHARE: usize = 4;
/// The same if the answer has more words of the query than the prompt.
const MATCHING_ANSWER_SHARE: usize = 2;

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
    let query_stems = content_stems(format.query);
    let count_shared = |text: &str| content_stems(text).intersection(&query_stems).count();
    let entries: Vec<TimelineEntry<'_>> =
        turns.iter().filter_map(|turn| build_entry(turn, count_shared)).collect();
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

/// The prompt of a turn and its result; without both, the passage that matches. Of a prompt, the passage that
/// matches is shown if it has more words of the query than the user's own words in short.
fn build_entry<'a>(
    hits: &[&'a RecallHit],
    count_shared: impl Fn(&str) -> usize,
) -> Option<TimelineEntry<'a>> {
    let first = *hits.first()?;
    let TurnOutline { prompt, answer } = &first.turn.outline;
    let (id, text, answer) = match (prompt, answer) {
        (Some(prompt), Some(answer)) => {
            let id = format!("{}#{}", render::project_prefix(first), prompt.number);
            let passage = hits.iter().find(|hit| hit.id == id).map(|hit| hit.text.as_str());
            let passage = passage.filter(|text| count_shared(text) > count_shared(&prompt.text));
            let text = passage.unwrap_or(&prompt.text);
            (id, text, Some(answer.text.as_str()))
        }
        _ => (first.id.clone(), first.text.as_str(), None),
    };
    Some(TimelineEntry {
        id,
        at: first.at,
        text: skip_acknowledgment(text),
        answer,
        position: first.position,
    })
}

fn render_entries(
    answer: &RecallAnswer,
    entries: &[&TimelineEntry<'_>],
    below: &[String],
    format: &AnswerFormat<'_>,
    line_chars: usize,
) -> String {
    let query = shorten_query(format.query, format.tokens_max / 4);
    let weak = if is_doubtful(answer) { "; none stands out" } else { "" };
    let turns = entries.len();
    let mut lines = vec![format!("Timeline of \"{query}\" ({turns} turns, oldest first{weak})")];
    let mut last_day = String::new();
    let query_stems = content_stems(format.query);
    let count_shared = |text: &str| content_stems(text).intersection(&query_stems).count();
    for entry in entries {
        let day = entry.at.map(|at| format!("{} {}", at.weekday(), render::render_day(at)));
        let day = day.unwrap_or_default();
        if day != last_day {
            lines.push(day.clone());
            last_day = day;
        }
        let shorten = |text: &str, chars_max: usize| {
            quote_line(&excerpt_around_match(text, format.query, chars_max), chars_max)
        };
        let line = match entry.answer {
            Some(answer) => {
                let is_in_answer = count_shared(answer) > count_shared(entry.text);
                let share = if is_in_answer { MATCHING_ANSWER_SHARE } else { ANSWER_SHARE };
                let prompt = shorten(entry.text, line_chars - line_chars / share);
                let rest = line_chars.saturating_sub(prompt.chars().count());
                format!("{prompt} → {}", shorten(answer, rest))
            }
            None => shorten(entry.text, line_chars),
        };
        lines.push(format!("  {} {line}", entry.id));
    }
    lines.extend(below.iter().cloned());
    lines.join("\n")
}
