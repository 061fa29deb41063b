//! Renders hits as text. The hits of a turn stand together, with its answer once; a hit in a file has the
//! format that agents know:
//!
//! ```text
//! Found 2 result(s) for: "authentication"
//!
//! [1] Source: detail (strong)
//!     File: detail/auth-design.md:10
//!     Content: Decided to use JWT tokens with refresh rotation...
//!     Citation: detail/auth-design.md#L10
//!
//! [2] #45 (user, likely, Sun 2026-11-15 09:32Z, branch auth)
//!     Which flow do we use, OAuth2 or JWT?
//!     Answered #48: JWT, because no other service needs our tokens.
//!     newer #90 (2026-11-20): OAuth2 from now on.
//! ```
//!
//! Notes about the answer follow the list.

use std::collections::BTreeSet;

use tome_finder::RecordKind;
use tome_model::Millis;

use crate::quote::{name_speaker, neutralize_markers, quote_line};
use crate::tools::answer::truncate_bytes;
use tome_recall::{RecallAnswer, RecallHit, source_name};

/// Bytes shown of an unsearched item, and of another project's root.
const NAME_BYTES_MAX: usize = 120;

/// Other projects and unsearched items that are listed.
const LISTED_MAX: usize = 3;

const BRANCH_CHARS_MAX: usize = 60;

/// The texts of a turn, or of a single hit outside of any.
pub(super) struct TurnTexts<'a> {
    /// Its hits, best first.
    pub hits: &'a [&'a RecallHit],
    /// The text of the first.
    pub text: String,
    /// Number and text of further hits.
    pub passages: Vec<(&'a RecallHit, String)>,
    /// Number and text of the answer, unless that is the first hit.
    pub answer: Option<(u64, String)>,
    /// Statements of other times that are listed with it.
    pub others_max: usize,
}

/// Renders a turn with its number in the list. For a model, the texts are `quoted`.
pub(super) fn render_turn(number: usize, turn: &TurnTexts<'_>, quoted: bool) -> String {
    let Some(first) = turn.hits.first() else { return String::new() };
    let quote_block = |text: &str| {
        let text = if quoted { neutralize_markers(text) } else { text.into() };
        text.replace('\n', "\n    ")
    };
    let quote = |text: &str| if quoted { quote_line(text, usize::MAX) } else { one_line(text) };
    let about = describe_turn(turn.hits);
    let text = quote_block(&turn.text);
    if matches!(first.source, RecordKind::Note | RecordKind::Detail | RecordKind::Lesson) {
        let (source, location) = (source_name(first.source), render_location(first));
        let (about, text) = (about.join(", "), text.replace('\n', "\n  "));
        return format!(
            "[{number}] Source: {source} ({about})\n    {location}\n    Content: {text}\n    Citation: {}\n",
            first.id
        );
    }
    let speaker = name_speaker(first);
    let about: Vec<String> = std::iter::once(speaker).chain(about).collect();
    let mut lines = format!("[{number}] {} ({})\n    {text}\n", first.id, about.join(", "));
    for (hit, text) in &turn.passages {
        let (id, speaker) = (&hit.id, name_speaker(hit));
        lines.push_str(&format!("    {id} {speaker}: {}\n", quote(text)));
    }
    let project = project_prefix(first);
    if let Some((number, answer)) = &turn.answer {
        lines.push_str(&format!("    Answered {project}#{number}: {}\n", quote(answer)));
    }
    let mut listed = BTreeSet::new();
    let others = turn.hits.iter().flat_map(|hit| &hit.others);
    let others = others.filter(|other| listed.insert((other.relation.as_str(), other.number)));
    for other in others.take(turn.others_max) {
        let (relation, number) = (other.relation.as_str(), other.number);
        let (day, statement) = (render_day(other.at), quote(&other.text));
        lines.push_str(&format!("    {relation} {project}#{number} ({day}): {statement}\n"));
    }
    lines
}

/// How likely a turn is relevant, when it was, and on which branch.
fn describe_turn(hits: &[&RecallHit]) -> Vec<String> {
    let first = hits.first();
    let label = hits.iter().map(|hit| hit.confidence).max();
    let at =
        first.and_then(|hit| hit.at).map(|at| format!("{} {}Z", at.weekday(), render_minute(at)));
    let branch = first.and_then(|hit| hit.turn.branch.as_ref());
    let branch = branch.map(|name| format!("branch {}", quote_line(name, BRANCH_CHARS_MAX)));
    [label.map(|label| label.as_str().to_owned()), at, branch].into_iter().flatten().collect()
}

/// The part of a hit's citation that names its project; empty for the current one.
pub(super) fn project_prefix(hit: &RecallHit) -> &str {
    hit.id.rsplit_once('#').map_or("", |(prefix, _)| prefix)
}

/// The number of the event that a hit cites.
pub(super) fn event_number(hit: &RecallHit) -> Option<u64> {
    let (_, number) = hit.id.rsplit_once('#')?;
    number.parse().ok()
}

fn render_location(hit: &RecallHit) -> String {
    let cited = || hit.citation.split('#').next().unwrap_or_default().to_owned();
    let file = hit.file.clone().unwrap_or_else(cited);
    match hit.line {
        Some(line) => format!("File: {file}:{line}"),
        None => format!("File: {file}"),
    }
}

/// Strips the project from the citation of a node or grip.
pub(super) fn strip_project(citation: &str) -> &str {
    let begins = |mark| citation.find(mark);
    let at = begins("toc:").or_else(|| begins("grip:")).unwrap_or(0);
    citation.get(at..).unwrap_or(citation)
}

/// Renders the day of a time.
pub(super) fn render_day(at: Millis) -> String {
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
