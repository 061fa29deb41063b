//! Titles of segments without a request or a result that could be one: files, first words, a command.

use tome_model::{Event, EventKind, FileAction};
use tome_text::truncate_words;

use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::failures::{find_failure_line, render_failure_message};
use crate::extract::facts::draft_fact::{DraftFact, build_evidence, first_line};
use crate::extract::language::clause::{capitalize, is_main_clause, shorten_to_title};
use crate::extract::language::pasted::looks_pasted;
use crate::extract::language::prose::{find_typed_text, is_prose};
use crate::extract::language::reply::{is_outburst, leans_on_conversation};
use crate::extract::language::terms::base_name;
use crate::extract::language::text::{begins_with_any, plain_text};
use crate::extract::pages::title_text::build_title;
use crate::extract::pages::title_weight::FROM_FILES;
use crate::extract::turns::changed_files::{changed_files, render_changes_without_counts};
use crate::extract::turns::plan::{find_plan_file, is_plan_path};
use crate::extract::turns::prompt::is_harness_message;
use crate::extract::turns::request::parse_request;
use crate::extract::turns::turn::Turn;
use crate::service_error::is_service_error;

/// The files that were changed, or else read.
pub(crate) fn title_from_files(turns: &[Turn<'_>], events: &[Event]) -> Option<DraftFact> {
    let mut changed = changed_files(turns);
    // Agents name the files of plans at random.
    let all = changed.len();
    changed.retain(|file| !is_plan_path(file.path));
    if changed.is_empty()
        && all > 0
        && let Some(plan) = find_plan_file(events)
    {
        let text = format!("Plan: {}", plain_text(plan.text));
        return build_title(&text, FROM_FILES, vec![build_evidence(plan.event, plan.raw)]);
    }
    if let Some(text) = render_changes_without_counts(&changed, 2) {
        let evidence = changed.iter().take(2).map(|file| build_evidence(file.event, file.raw));
        return build_title(&text, FROM_FILES, evidence.collect());
    }
    let read: Vec<_> = turns
        .iter()
        .flat_map(|turn| &turn.files)
        .filter(|file| file.action == FileAction::Read)
        .collect();
    if let Some(first) = read.first() {
        let names: Vec<&str> = read.iter().take(3).map(|file| base_name(file.path)).collect();
        let text = format!("Read {}", names.join(", "));
        return build_title(&text, FROM_FILES, vec![build_evidence(first.event, first.raw)]);
    }
    title_from_first_words(events)
        .or_else(|| title_from_command(events, &|line| !only_looks(line)))
        .or_else(|| title_from_text(events))
        .or_else(|| title_from_any_prompt(events))
        .or_else(|| title_from_command(events, &|_| true))
}

/// The first line of any prompt, even one that was pasted.
fn title_from_any_prompt(events: &[Event]) -> Option<DraftFact> {
    let (at, line) = events.iter().enumerate().find_map(|(at, event)| {
        let says = event.kind == EventKind::UserMessage
            && !is_harness_message(&event.text)
            && !is_outburst(&event.text);
        let line = event.text.lines().find(|line| line.chars().any(char::is_alphabetic));
        Some((at, line.filter(|_| says)?))
    })?;
    build_title(&shorten_to_title(&plain_text(line)), 1, vec![build_evidence(at, line)])
}

/// The first line of a prompt that was typed, however uninformative: the user recognizes it.
fn title_from_first_words(events: &[Event]) -> Option<DraftFact> {
    let (at, line) = events.iter().enumerate().find_map(|(at, event)| {
        let is_prompt = event.kind == EventKind::UserMessage && !is_harness_message(&event.text);
        let typed = find_typed_text(&event.text).unwrap_or(&event.text);
        let line = typed.lines().map(str::trim).find(|line| !line.is_empty())?;
        let says = || parse_request(at, line).is_some_and(|request| request.weight > 0);
        let is_title = || !looks_pasted(line) && !is_outburst(line) && !leans_on_conversation(line);
        (is_prompt && is_prose(line) && is_main_clause(line) && is_title() && says())
            .then_some((at, line))
    })?;
    build_title(&shorten_to_title(&plain_text(line)), FROM_FILES, vec![build_evidence(at, line)])
}

/// The first command, if nothing was said and no file touched.
fn title_from_command(events: &[Event], is_title: &dyn Fn(&str) -> bool) -> Option<DraftFact> {
    let (at, line) = events.iter().enumerate().find_map(|(at, event)| {
        let line = first_line(find_command_line(event.tool.as_ref()?)?);
        is_title(line).then_some((at, line))
    })?;
    let text = format!("Ran {}", truncate_words(&plain_text(line), 80));
    build_title(&text, FROM_FILES, vec![build_evidence(at, line)])
}

/// Whether a command only looks at the state of the work.
fn only_looks(line: &str) -> bool {
    #[rustfmt::skip]
    const LOOKS: &[&str] = &[
        "git status", "git log", "git diff", "git branch", "git show", "ls", "pwd", "cat", "cd", "head", "tail", "echo",
        "find", "grep", "rg", "which", "wc",
    ];
    // The folder does not matter.
    let own = line.strip_prefix("cd ").and_then(|rest| rest.split_once(" && "));
    begins_with_any(own.map_or(line, |(_, own)| own).trim_start(), LOOKS)
}

/// The line of a log that reports a failure, or else the first words of anybody.
fn title_from_text(events: &[Event]) -> Option<DraftFact> {
    let failure = events.iter().enumerate().find_map(|(at, event)| {
        let (line, _) = find_failure_line(&event.text)?;
        let text = render_failure_message(line);
        (!looks_pasted(&text)).then_some((at, line, text))
    });
    let first_words = || {
        events.iter().enumerate().find_map(|(at, event)| {
            let says = !is_harness_message(&event.text) && !is_service_error(event);
            let text = says.then_some(event.text.as_str())?;
            let text = find_typed_text(text).unwrap_or(text);
            let is_title =
                |line: &&str| is_prose(line) && !looks_pasted(line) && !is_outburst(line);
            let line = text.lines().find(is_title)?;
            Some((at, line, shorten_to_title(&truncate_words(&plain_text(line), 80))))
        })
    };
    let (at, line, text) = failure.or_else(first_words)?;
    build_title(&capitalize(&text), 1, vec![build_evidence(at, line)])
}

/// Title of a segment without any fact.
pub(crate) fn title_from_kinds(events: &[Event]) -> &'static str {
    let has = |kind| events.iter().any(|event| event.kind == kind);
    if has(EventKind::UserMessage) {
        "A prompt without a result"
    } else if has(EventKind::Compaction) {
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
    }
}
