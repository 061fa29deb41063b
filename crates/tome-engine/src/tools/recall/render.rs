//! Renders hits as text, in the format that agents know:
//!
//! ```text
//! Found 2 result(s) for: "authentication"
//!
//! [1] Source: detail
//!     File: detail/auth-design.md:10
//!     Content: Decided to use JWT tokens with refresh rotation...
//!     Citation: detail/auth-design.md#L10
//!
//! [2] Source: messages
//!     Line: 45
//!     Content: User asked about auth flow, discussed OAuth2 vs JWT...
//!     Citation: messages.jsonl#L45
//! ```
//!
//! The list contains nothing else. Dates and notes about the answer follow it.

use tome_finder::RecordKind;
use tome_model::Millis;

use crate::quote::{name_speaker, neutralize_markers, quote_line};
use crate::tools::answer::truncate_bytes;
use tome_recall::{RecallAnswer, RecallHit, source_name};

/// Bytes shown of an unsearched item, and of another project's root.
const NAME_BYTES_MAX: usize = 120;

/// Other projects and unsearched items that are listed.
const LISTED_MAX: usize = 3;

/// Renders one hit with its number and the given content.
pub(super) fn render_hit(number: usize, hit: &RecallHit, content: &str) -> String {
    // Within the current session the line of the transcript is as short as the number.
    let is_here = hit.citation.starts_with("messages.jsonl#");
    let id = if is_here { &hit.citation } else { &hit.id };
    let source = source_name(hit.source);
    let location = match hit.source {
        // The number of an event identifies it.
        RecordKind::Event if id != &hit.citation => String::new(),
        _ => format!("    {}\n", render_location(hit)),
    };
    let content = content.replace('\n', "\n      ");
    let mut text = format!("[{number}] Source: {source}\n{location}    Content: {content}\n");
    if let Some(answer) = &hit.turn.answer {
        let (number, answer) = (answer.number, one_line(&answer.text));
        text.push_str(&format!("    Answered #{number}: {answer}\n"));
    }
    for other in &hit.others {
        let (relation, number) = (other.relation.as_str(), other.number);
        let (day, statement) = (render_day(other.at), one_line(&other.text));
        text.push_str(&format!("    {relation} #{number} ({day}): {statement}\n"));
    }
    text.push_str(&format!("    Citation: {id}\n"));
    text
}

/// The same for a model: with speaker and date.
pub(super) fn render_quoted_hit(number: usize, hit: &RecallHit, content: &str) -> String {
    let at = hit.at.map(|at| format!(", {} UTC", render_minute(at))).unwrap_or_default();
    let quote = |text: &str| quote_line(text, usize::MAX);
    let mut quoted = hit.clone();
    if let Some(answer) = &mut quoted.turn.answer {
        answer.text = quote(&answer.text);
    }
    quoted.others.iter_mut().for_each(|other| other.text = quote(&other.text));
    let listed = render_hit(number, &quoted, &neutralize_markers(content));
    format!("{listed}    Said by: {}{at}\n", name_speaker(hit))
}

fn render_location(hit: &RecallHit) -> String {
    match hit.source {
        // An event that is not in its session's transcript yet is cited by its id.
        RecordKind::Event => match hit.line {
            Some(line) => format!("Line: {line}"),
            None => format!("Event: {}", hit.citation),
        },
        RecordKind::Node => format!("Node: {}", strip_project(&hit.citation)),
        RecordKind::Grip => format!("Grip: {}", strip_project(&hit.citation)),
        RecordKind::Note | RecordKind::Detail | RecordKind::Lesson => {
            let cited = || hit.citation.split('#').next().unwrap_or_default().to_owned();
            let file = hit.file.clone().unwrap_or_else(cited);
            match hit.line {
                Some(line) => format!("File: {file}:{line}"),
                None => format!("File: {file}"),
            }
        }
    }
}

/// Strips the project from the citation of a node or grip.
pub(super) fn strip_project(citation: &str) -> &str {
    let begins = |mark| citation.find(mark);
    let at = begins("toc:").or_else(|| begins("grip:")).unwrap_or(0);
    citation.get(at..).unwrap_or(citation)
}

pub(super) fn render_dates<'h>(hits: impl Iterator<Item = &'h RecallHit>) -> Option<String> {
    let dated = (1..).zip(hits).filter_map(|(number, hit)| Some((number, hit.at?)));
    let dates: Vec<String> =
        dated.map(|(number, at): (usize, _)| format!("[{number}] {}", render_minute(at))).collect();
    (!dates.is_empty()).then(|| format!("Dates (UTC): {}", dates.join(", ")))
}

/// Renders the day of a time.
fn render_day(at: Millis) -> String {
    at.to_string().chars().take(10).collect()
}

/// Renders a time to the minute.
pub(super) fn render_minute(at: Millis) -> String {
    let written = at.to_string();
    written.get(..16).unwrap_or(&written).replace('T', " ")
}

/// Renders notes about an answer, the most important first.
pub(super) fn render_notes(answer: &RecallAnswer) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(unread) =
        join_some(answer.unread.iter().map(|one| truncate_bytes(one, NAME_BYTES_MAX)))
    {
        notes.push(format!("(not searched: {unread})"));
    }
    let others = answer.other_projects.iter().map(|other| {
        format!("{} has {}", truncate_bytes(&other.project, NAME_BYTES_MAX), other.hits)
    });
    if let Some(others) = join_some(others) {
        notes.push(format!("(other projects have hits: {others}; call again with across all)"));
    }
    if answer.behind > 0 {
        let behind = match answer.behind {
            1 => "1 event".to_owned(),
            count => format!("{count} events"),
        };
        let looked = if answer.unread.is_empty() { "; those were scanned directly" } else { "" };
        notes.push(format!("(the index is {behind} behind{looked})"));
    }
    if let Some(time) = &answer.time {
        notes.push(format!("(preferred time: {})", truncate_bytes(time, NAME_BYTES_MAX)));
    }
    notes
}

fn join_some(mut all: impl Iterator<Item = String>) -> Option<String> {
    let some: Vec<String> = all.by_ref().take(LISTED_MAX).collect();
    let more = match all.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!some.is_empty()).then(|| format!("{}{more}", some.join("; ")))
}

/// One line without control characters.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() && !c.is_whitespace() { '\u{fffd}' } else { c })
        .collect();
    tome_text::collapse_whitespace(&plain)
}
