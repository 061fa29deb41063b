//! Builds the title of a segment.

use tome_model::{Event, EventKind};
use tome_text::{count_words, truncate_words};

use super::ask::{Ask, ask, points};
use super::clause::{capitalised, title_of};
use super::commands::Outcome;
use super::deeds::{changed_words, file_name, looked};
use super::story::{Story, Who};
use super::text::{output_texts, plain};
use super::trouble::{failure_in, message};
use super::words::{Sort, terms};

const TITLE_CHARS_MAX: usize = 96;

/// Builds the title from the request, else from the one before the segment, else from actions.
pub(super) fn title(story: &Story<'_>, events: &[Event], overlap: &[Event]) -> String {
    let asked = story.main_ask(events.len()).filter(|ask| ask.weight > 0 && !ask.text.is_empty());
    let before = overlap.iter().rev().filter(|event| event.kind == EventKind::UserMessage);
    let committed = story.commits.last().map(|(_, message)| title_of(&plain(message)));
    let text = match asked.filter(|ask| ask.weight > 1) {
        // The commit message tells what "address them" meant.
        Some(ask) if !is_specific(ask) && committed.is_some() => committed.unwrap_or_default(),
        Some(ask) => sharpened(ask, story),
        None => match before.filter_map(|event| ask(0, &event.text)).find(|ask| ask.weight >= 4) {
            Some(ask) => sharpened(&ask, story),
            None => committed
                .or_else(|| done(story))
                .or_else(|| asked.map(|ask| sharpened(ask, story)))
                .unwrap_or_else(|| seen(story, events)),
        },
    };
    let text = truncate_words(text.replace("; ", ", ").trim(), TITLE_CHARS_MAX);
    if text.chars().any(char::is_alphanumeric) { text } else { of_kinds(story) }
}

/// Whether a request names its subject rather than referring to it.
fn is_specific(ask: &Ask<'_>) -> bool {
    !points(&ask.text) && ask.weight >= 4
}

/// Renders a request as a title; if it names nothing, adds the failure or the most edited file.
fn sharpened(ask: &Ask<'_>, story: &Story<'_>) -> String {
    let title = title_of(&ask.text);
    let named =
        terms(&title).iter().any(|term| matches!(term.sort, Sort::File | Sort::Name | Sort::Code));
    let words = count_words(&title);
    if let (Some(trouble), true) = (ask.trouble, !named && (words < 6 || !is_specific(ask))) {
        let said = truncate_words(&message(trouble), 60);
        return if is_specific(ask) { format!("{title}: {said}") } else { capitalised(&said) };
    }
    let changed = story.changed();
    match changed.first() {
        Some(file) if !named && words <= 7 => {
            format!("{title} ({})", file_name(file.path, &changed))
        }
        _ => title,
    }
}

/// Renders files and commands as a title, else the best statement.
fn done(story: &Story<'_>) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(changed_words(&story.changed(), 2).map(|words| edits_off(&words)));
    parts.extend(run_title(story));
    if !parts.is_empty() {
        return Some(parts.join(", "));
    }
    story
        .said
        .iter()
        .filter(|said| said.who != Who::Person && !said.filler && said.worth() > 4)
        .max_by_key(|said| (said.worth(), std::cmp::Reverse(said.event)))
        .map(|said| title_of(&said.text))
}

/// Removes the counts from `changed a.rs (3 edits)`.
fn edits_off(words: &str) -> String {
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

fn run_title(story: &Story<'_>) -> Option<String> {
    let weighty: Vec<_> =
        story.ran.iter().filter(|ran| ran.weighty && ran.outcome != Outcome::Unclear).collect();
    let last = weighty.last()?;
    let failed = weighty.iter().find(|ran| ran.outcome == Outcome::Failed);
    let named = failed.unwrap_or(last);
    let end = weighty.iter().rev().find(|ran| ran.called == named.called)?;
    Some(match (failed.is_some(), end.outcome) {
        (true, Outcome::Passed) => format!("{} failed, then passed", named.called),
        (true, _) => format!("{} failed", named.called),
        _ => format!("{} passed", named.called),
    })
}

/// Renders a title from reads, failures, any first line, or tools.
fn seen(story: &Story<'_>, events: &[Event]) -> String {
    if let Some((words, _)) = looked(story) {
        return words;
    }
    let trouble =
        events.iter().flat_map(output_texts).filter_map(failure_in).max_by_key(|(_, sure)| *sure);
    if let Some((line, _)) = trouble {
        return capitalised(&truncate_words(&message(line), 80));
    }
    let first_said = events
        .iter()
        .map(|event| {
            plain(event.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
        })
        .find(|text| !text.is_empty());
    if let Some(said) = first_said {
        return title_of(&truncate_words(&said, 80));
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
    of_kinds(story)
}

/// Title for a segment without any text.
fn of_kinds(story: &Story<'_>) -> String {
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
