//! Finds what went wrong in a segment, what passes, and what is left open.

use tome_model::{Event, FactKind};
use tome_text::count_words;

use super::answer::find_closing_question;
use super::checks::covers;
use super::clause::{capitalize, cut_clause};
use super::commands::{CommandOutcome, CommandRun};
use super::draft_fact::{DraftFact, FACT_CHARS_MAX, PASSING_TROUBLE, build_evidence, first_line};
use super::failures::{render_failure_message, split_location};
use super::files::{FileTouchKind, find_text_field};
use super::similarity::TermSet;
use super::terms::{base_name, has_name};
use super::text::to_lower;
use super::turn::{FileActivity, Turn};
use crate::Evidence;

/// Failures of commands that build or check, with whether the same command passed later.
pub(super) fn add_problems(turns: &[Turn<'_>], events: &[Event], facts: &mut Vec<DraftFact>) {
    const PROBLEMS_MAX: usize = 6;
    let runs: Vec<&CommandRun<'_>> = turns.iter().flat_map(|turn| &turn.runs).collect();
    let mut told: Vec<(&str, String)> = Vec::new();
    for run in &runs {
        let Some(line) = run.line.filter(|_| run.outcome == CommandOutcome::Failed && run.is_major)
        else {
            continue;
        };
        let why = describe_failure(run, line);
        let message = without_digits(&why);
        // One failure of a test is enough, whatever it said the next time.
        let subject = match run.failed_test {
            Some(test) => without_digits(test),
            None => message.clone(),
        };
        if told.contains(&(run.name.as_str(), subject.clone())) || told.len() >= PROBLEMS_MAX {
            continue;
        }
        told.push((&run.name, subject));
        // The last time that it failed so, and the first success of that very command after it.
        let alike = |other: &&&CommandRun<'_>| {
            other.name == run.name
                && other.outcome == CommandOutcome::Failed
                && other
                    .line
                    .is_some_and(|line| without_digits(&describe_failure(other, line)) == message)
        };
        let last = runs.iter().rev().find(alike).unwrap_or(run);
        let passed = runs.iter().find(|other| {
            other.event > last.event
                && other.outcome == CommandOutcome::Passed
                && covers(other, last)
        });
        // Another selection of tests passed later, which does not tell whether this is fixed.
        let other_passed = runs.iter().filter(|_| passed.is_none()).find(|other| {
            other.event > last.event
                && other.name == run.name
                && other.outcome == CommandOutcome::Passed
        });
        let is_slip = is_usage_error(&message) && (passed.is_some() || other_passed.is_some());
        if is_slip || message.trim().ends_with(':') && count_words(&message) <= 3 {
            continue;
        }
        let mut evidence = vec![build_evidence(run.event, line)];
        evidence.extend(run.failed_test.map(|test| build_evidence(run.event, test)));
        let fixed = match passed {
            Some(passed) => {
                let shows = passed.line.unwrap_or_else(|| first_line(passed.command_line));
                evidence.push(build_evidence(passed.event, shows));
                let mut between = changed_between(turns, run.event, passed.event);
                between.retain(|file| may_fix(run, file.path));
                evidence.extend(between.first().map(|file| build_evidence(file.event, file.raw)));
                let word =
                    if is_reverted(events, run.event, passed.event) { "reverting " } else { "" };
                match between.as_slice() {
                    [] => " — passed in a later run".to_owned(),
                    files => format!(" — passed after {word}{}", describe_changes(files)),
                }
            }
            None => match other_passed {
                Some(other) => {
                    let shows = other.line.unwrap_or_else(|| first_line(other.command_line));
                    evidence.push(build_evidence(other.event, shows));
                    " — another run of it passed later".to_owned()
                }
                None => String::new(),
            },
        };
        let text = format!("`{}` failed: ", run.name);
        let room = FACT_CHARS_MAX.saturating_sub(text.chars().count() + fixed.chars().count());
        let room = room.max(60);
        // The cause says more than the name of the test.
        let cause = match why.chars().nth(room) {
            Some(_) => render_failure_message(line),
            None => why.clone(),
        };
        let shown = cut_clause(cause.trim_end_matches('.'), room);
        let text = format!("{text}{shown}{fixed}");
        let turn = turns.iter().find(|turn| turn.events.contains(&run.event));
        let weight = match passed {
            None if other_passed.is_some() => PASSING_TROUBLE,
            None => 6,
            Some(_)
                if !is_bare_failure(&why)
                    || turn.is_some_and(|turn| is_request_about(turn, run, &why)) =>
            {
                8
            }
            Some(_) => PASSING_TROUBLE,
        };
        facts.extend(DraftFact::new(FactKind::Problem, &text, weight, evidence));
    }
}

/// Whether a command was only called in a wrong way.
fn is_usage_error(message: &str) -> bool {
    const MARKS: [&str; 9] = [
        "unknown option",
        "unknown flag",
        "unknown command",
        "unrecognized option",
        "unrecognized arguments",
        "unexpected argument",
        "invalid option",
        "command not found",
        "missing script",
    ];
    let lower = to_lower(message);
    MARKS.iter().any(|mark| lower.contains(mark))
}

/// Whether a change of a file can be why a command passes: not that of a text, and nothing for git.
fn may_fix(run: &CommandRun<'_>, path: &str) -> bool {
    let is_text = [".md", ".txt", ".rst", ".log"].iter().any(|end| path.ends_with(end));
    !is_text && !run.name.starts_with("git ")
}

/// Why a command failed: the message, after the name of the test.
fn describe_failure(run: &CommandRun<'_>, line: &str) -> String {
    let cause = render_failure_message(line);
    let test = run.failed_test.map(render_failure_message).unwrap_or_default();
    let test = test.trim_start_matches("FAIL").trim_matches([':', ' ']);
    if test.is_empty() || test.contains(char::is_whitespace) {
        return cause;
    }
    let message = split_location(&cause).map_or(cause.as_str(), |(_, message)| message);
    format!("{test}: {message}")
}

/// A message without line numbers and durations, by which it is recognized.
fn without_digits(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether a message only says that a test failed, and not why.
fn is_bare_failure(message: &str) -> bool {
    let lower = message.to_lowercase();
    let counts = lower.contains("failed") && lower.contains(|c: char| c.is_ascii_digit());
    let named = lower.contains("fail") && count_words(message) <= 3;
    counts && count_words(message) <= 9 || named || lower.contains("some tests failed")
}

/// Whether a request is about a failure: it names the command, or pasted the message.
fn is_request_about(turn: &Turn<'_>, run: &CommandRun<'_>, why: &str) -> bool {
    turn.request.as_ref().is_some_and(|request| {
        let requested = TermSet::from_text(&request.text);
        let of_failure = TermSet::from_text(why);
        request.failure.is_some()
            || request.text.contains(run.name.as_str())
            || of_failure.count_shared(&requested) >= 2
            || ["fail", "ci ", "broken", "red"]
                .iter()
                .any(|word| request.text.to_lowercase().contains(word))
    })
}

/// Whether an edit between two events undoes an earlier one.
fn is_reverted(events: &[Event], after: usize, before: usize) -> bool {
    const EDITS_MAX: usize = 200;
    let edits = events.iter().enumerate().take(before).filter_map(|(at, event)| {
        let input = &event.tool.as_ref()?.input;
        let field = |names: &[&str]| find_text_field(input, names);
        let old = field(&["old_string", "oldString", "old_str"])?;
        let new = field(&["new_string", "newString", "new_str"])?;
        Some((at, old, new))
    });
    let edits: Vec<(usize, &str, &str)> = edits.collect();
    let from = edits.len().saturating_sub(EDITS_MAX);
    let edits = edits.get(from..).unwrap_or_default();
    edits.iter().filter(|(at, ..)| *at > after).any(|(at, old, new)| {
        edits.iter().any(|(earlier, was, became)| earlier < at && was == new && became == old)
    })
}

/// The files that were changed between two events.
fn changed_between<'t, 'a>(
    turns: &'t [Turn<'a>],
    after: usize,
    before: usize,
) -> Vec<&'t FileActivity<'a>> {
    let mut found: Vec<&FileActivity<'a>> = Vec::new();
    for file in turns.iter().flat_map(|turn| &turn.files) {
        if file.action != FileTouchKind::Read
            && file.event < before
            && file.last_event > after
            && !found.iter().any(|known| known.path == file.path)
        {
            found.push(file);
        }
    }
    found
}

fn describe_changes(files: &[&FileActivity<'_>]) -> String {
    match files {
        [] => "changes".to_owned(),
        [only] => format!("changes to {}", base_name(only.path)),
        [first, second] => {
            format!("changes to {} and {}", base_name(first.path), base_name(second.path))
        }
        [first, rest @ ..] => {
            format!("changes to {} and {} more files", base_name(first.path), rest.len())
        }
    }
}

/// Whether a question only offers the next step: "Want me to commit this?"
pub(super) fn is_chore_offer(question: &str) -> bool {
    const CHORES: [&str; 8] =
        ["commit", "push", "pr", "merge", "continue", "proceed", "start", "implement"];
    let named = has_name(question);
    let of_chore = |word: &str| CHORES.contains(&word.to_lowercase().as_str());
    let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    !named && words.clone().count() <= 14 && words.clone().any(of_chore)
}

/// The files that a turn changed after its last commit.
fn describe_uncommitted(turn: &Turn<'_>) -> Option<String> {
    let committed = turn.commits.iter().map(|commit| commit.event).max().unwrap_or(0);
    let changed: Vec<&FileActivity<'_>> = turn
        .files
        .iter()
        .filter(|file| file.action != FileTouchKind::Read && file.last_event > committed)
        .collect();
    (!changed.is_empty()).then(|| describe_changes(&changed))
}

/// Whether a question only offers to go on.
fn is_courtesy_question(text: &str) -> bool {
    const OFFERS: [&str; 7] = [
        "anything else",
        "what would you like",
        "what's next",
        "how can i help",
        "what do you want to",
        "any questions",
        "还有什么",
    ];
    let lower = to_lower(text);
    OFFERS.iter().any(|offer| lower.contains(offer))
}

/// Finds the open end of the last turn: a question to the user, an interrupted request, or a failing
/// check.
pub(super) fn find_open_end(
    last: &Turn<'_>,
    events: &[Event],
    facts: &[DraftFact],
) -> Option<DraftFact> {
    if let Some((at, _)) = last.final_answer(events) {
        if let Some(question) = find_closing_question(&last.answer_parts) {
            let evidence: Vec<Evidence> =
                question.raws.iter().map(|raw| build_evidence(at, raw)).collect();
            if is_courtesy_question(&question.text) {
                return None;
            }
            let text = if is_chore_offer(&question.text) {
                let changed = describe_uncommitted(last)?;
                format!("The agent asked \"{}\", no answer ({changed})", question.text)
            } else {
                question.text
            };
            return DraftFact::new(FactKind::Open, &text, 5, evidence);
        }
    } else if let Some(error) = last.service_error {
        let request = last.request.as_ref().filter(|request| request.weight >= 3)?;
        let message = events.get(error)?.text.as_str();
        let evidence =
            vec![build_evidence(request.event, request.raw), build_evidence(error, message)];
        let text = format!("Not answered: {}", capitalize(&request.text));
        return DraftFact::new(FactKind::Open, &text, 5, evidence);
    } else if last.is_interrupted {
        let request = last.request.as_ref().filter(|request| request.weight >= 3)?;
        let evidence = vec![build_evidence(request.event, request.raw)];
        let text = format!("Interrupted: {}", capitalize(&request.text));
        return DraftFact::new(FactKind::Open, &text, 5, evidence);
    }
    let failing = last.runs.iter().rev().find(|run| run.is_major)?;
    let line = failing.line.filter(|_| failing.outcome == CommandOutcome::Failed)?;
    let is_reported = facts.iter().any(|fact| {
        fact.kind == FactKind::Problem
            && fact.event == failing.event
            && !fact.text.contains(" — passed")
    });
    let text = format!("`{}` fails: {}", failing.name, render_failure_message(line));
    let evidence = vec![build_evidence(failing.event, line)];
    is_reported.then(|| DraftFact::new(FactKind::Open, &text, 6, evidence)).flatten()
}
