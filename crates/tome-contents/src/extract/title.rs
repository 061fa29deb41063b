//! Builds the title of a segment.

use tome_model::{Event, EventKind};
use tome_text::{count_words, truncate_words};

use super::actions::{render_changes, render_file_name, render_reads};
use super::clause::{capitalize, render_title};
use super::commands::CommandOutcome;
use super::digest::{SegmentDigest, StatementAuthor};
use super::failures::{find_failure_line, render_failure_message};
use super::request::{UserRequest, parse_request, refers_without_naming};
use super::terms::{TermKind, extract_terms};
use super::text::{output_texts, plain_text};

const TITLE_CHARS_MAX: usize = 96;

/// Builds the title from the request, else from the one before the segment, else from actions.
pub(super) fn build_title(
    story: &SegmentDigest<'_>,
    events: &[Event],
    overlap: &[Event],
) -> String {
    let asked =
        story.main_request(events.len()).filter(|ask| ask.weight > 0 && !ask.text.is_empty());
    let before = overlap.iter().rev().filter(|event| event.kind == EventKind::UserMessage);
    let committed = story.commits.last().map(|(_, message)| render_title(&plain_text(message)));
    let text = match asked.filter(|ask| ask.weight > 1) {
        // The commit message tells what "address them" meant.
        Some(ask) if !is_specific(ask) && committed.is_some() => committed.unwrap_or_default(),
        Some(ask) => render_request_title(ask, story),
        None => match before
            .filter_map(|event| parse_request(0, &event.text))
            .find(|ask| ask.weight >= 4)
        {
            Some(ask) => render_request_title(&ask, story),
            None => committed
                .or_else(|| render_actions_title(story))
                .or_else(|| asked.map(|ask| render_request_title(ask, story)))
                .unwrap_or_else(|| render_fallback_title(story, events)),
        },
    };
    let text = truncate_words(text.replace("; ", ", ").trim(), TITLE_CHARS_MAX);
    if text.chars().any(char::is_alphanumeric) { text } else { title_from_kinds(story) }
}

/// Whether a request names its subject rather than referring to it.
fn is_specific(ask: &UserRequest<'_>) -> bool {
    !refers_without_naming(&ask.text) && ask.weight >= 4
}

/// Renders a request as a title; if it names nothing, adds the failure or the most edited file.
fn render_request_title(ask: &UserRequest<'_>, story: &SegmentDigest<'_>) -> String {
    let title = render_title(&ask.text);
    let named = extract_terms(&title).iter().any(|term| {
        matches!(term.kind, TermKind::File | TermKind::Identifier | TermKind::ErrorCode)
    });
    let words = count_words(&title);
    if let (Some(trouble), true) = (ask.failure, !named && (words < 6 || !is_specific(ask))) {
        let said = truncate_words(&render_failure_message(trouble), 60);
        return if is_specific(ask) { format!("{title}: {said}") } else { capitalize(&said) };
    }
    let changed = story.changed_files();
    match changed.first() {
        Some(file) if !named && words <= 7 => {
            format!("{title} ({})", render_file_name(file.path, &changed))
        }
        _ => title,
    }
}

/// Renders files and commands as a title, else the best statement.
fn render_actions_title(story: &SegmentDigest<'_>) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(render_changes(&story.changed_files(), 2).map(|words| strip_edit_counts(&words)));
    parts.extend(render_run_title(story));
    if !parts.is_empty() {
        return Some(parts.join(", "));
    }
    story
        .statements
        .iter()
        .filter(|said| said.who != StatementAuthor::User && !said.filler && said.score() > 4)
        .max_by_key(|said| (said.score(), std::cmp::Reverse(said.event)))
        .map(|said| render_title(&said.text))
}

/// Removes the counts from `changed a.rs (3 edits)`.
fn strip_edit_counts(words: &str) -> String {
    let mut out = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once(" (") {
        out.push_str(before);
        rest = match after.split_once(')') {
            Some((inside, behind)) if inside.ends_with("edits") => behind,
            _ => {
                out.push_str(" (");
                after
            }
        };
    }
    out.push_str(rest);
    out
}

fn render_run_title(story: &SegmentDigest<'_>) -> Option<String> {
    let weighty: Vec<_> = story
        .runs
        .iter()
        .filter(|ran| ran.is_major && ran.outcome != CommandOutcome::Unclear)
        .collect();
    let last = weighty.last()?;
    let failed = weighty.iter().find(|ran| ran.outcome == CommandOutcome::Failed);
    let named = failed.unwrap_or(last);
    let end = weighty.iter().rev().find(|ran| ran.name == named.name)?;
    Some(match (failed.is_some(), end.outcome) {
        (true, CommandOutcome::Passed) => format!("{} failed, then passed", named.name),
        (true, _) => format!("{} failed", named.name),
        _ => format!("{} passed", named.name),
    })
}

/// Renders a title from reads, failures, any first line, or tools.
fn render_fallback_title(story: &SegmentDigest<'_>, events: &[Event]) -> String {
    if let Some((words, _)) = render_reads(story) {
        return words;
    }
    let trouble = events
        .iter()
        .flat_map(output_texts)
        .filter_map(find_failure_line)
        .max_by_key(|(_, sure)| *sure);
    if let Some((line, _)) = trouble {
        return capitalize(&truncate_words(&render_failure_message(line), 80));
    }
    let first_said = events
        .iter()
        .map(|event| {
            plain_text(event.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
        })
        .find(|text| !text.is_empty());
    if let Some(said) = first_said {
        return render_title(&truncate_words(&said, 80));
    }
    let tools: Vec<&str> = events
        .iter()
        .filter_map(|event| event.tool.as_ref())
        .map(|tool| tool.name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    if let Some(tool) = tools.first() {
        return format!("Used {}", truncate_words(tool, 60));
    }
    title_from_kinds(story)
}

/// Title for a segment without any text.
fn title_from_kinds(story: &SegmentDigest<'_>) -> String {
    let has = |kind| story.kinds.contains_key(&kind);
    let what = if has(EventKind::Compaction) {
        "Context compacted"
    } else if has(EventKind::SubagentStart) || has(EventKind::SubagentStop) {
        "A subagent at work"
    } else if has(EventKind::SessionStart) && has(EventKind::SessionEnd) {
        "Session opened and closed without a word"
    } else if has(EventKind::SessionStart) {
        "Session opened, nothing asked yet"
    } else if has(EventKind::SessionEnd) {
        "Session closed"
    } else {
        "Nothing said"
    };
    what.to_owned()
}
