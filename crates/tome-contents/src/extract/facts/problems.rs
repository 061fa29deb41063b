//! Finds the problems of a segment, and its open end.

use tome_model::{CommandOutcome, Event, FactKind, FileAction};
use tome_text::count_words;

use crate::Evidence;
use crate::extract::answers::answer::find_closing_question;
use crate::extract::commands::cause::names_cause;
use crate::extract::commands::command_name::writes_files;
use crate::extract::commands::command_run::{CommandRun, find_command_line};
use crate::extract::commands::failures::render_failure_message;
use crate::extract::commands::location::split_location;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::facts::checks::{covers, is_push, names_check};
use crate::extract::facts::draft_fact::{
    DraftFact, FACT_CHARS_MAX, PASSED, PASSED_AFTER, PASSED_BY_ITSELF, PASSING_TROUBLE,
    build_evidence, first_line,
};
use crate::extract::files::touched_files::{parse_patch_files, parse_touched_files};
use crate::extract::language::clause::{capitalize, cut_clause, shorten_paths};
use crate::extract::language::pasted::looks_pasted;
use crate::extract::language::reply::leans_on_conversation;
use crate::extract::language::similarity::TermSet;
use crate::extract::language::terms::{base_name, has_name};
use crate::extract::language::text::{begins_with_any, find_text_field, to_lower};
use crate::extract::turns::request::UserRequest;
use crate::extract::turns::turn::{Turn, TurnFile};

/// Failures of commands that build or check, with whether the same command passed later.
pub(crate) fn add_problems(turns: &[Turn<'_>], events: &[Event], facts: &mut Vec<DraftFact>) {
    const PROBLEMS_MAX: usize = 6;
    let runs: Vec<&CommandRun<'_>> = turns.iter().flat_map(|turn| &turn.runs).collect();
    let mut seen: Vec<(&str, String)> = Vec::new();
    let problems = runs.iter().filter_map(|run| Problem::from_run(run, &runs));
    let (named, bare): (Vec<Problem<'_, '_>>, Vec<_>) =
        problems.partition(|problem| problem.cause.line.is_some());
    // Those that say why come first.
    for problem in named.into_iter().chain(bare) {
        let run = problem.run;
        if seen.len() >= PROBLEMS_MAX {
            break;
        }
        let subject = (run.name.as_str(), problem.subject());
        if seen.contains(&subject) {
            continue;
        }
        seen.push(subject);
        if !problem.is_passing_slip() && !is_own_slip(turns, events, &problem) {
            facts.extend(problem.describe(turns, events));
        }
    }
}

/// Why a command failed.
struct FailureCause<'a> {
    /// The line of the output that names it; `None` if only the exit code or a count is known.
    line: Option<&'a str>,
    why: String,
}

impl<'a> FailureCause<'a> {
    /// Reads why a run failed. `None` if it did not, or if nothing is known of a command that is no check.
    fn of_run(run: &CommandRun<'a>) -> Option<Self> {
        const TIMED_OUT: &str = "timed out";
        // Where a part of a chain is no check, it may be the one that failed; and so may the end of a pipe.
        let is_piped = run.command_line.replace("||", "").contains('|');
        let is_check = run.is_major && !is_piped && run.name.split(" && ").all(names_check);
        if run.outcome == CommandOutcome::TimedOut {
            return is_check.then(|| Self { line: None, why: TIMED_OUT.to_owned() });
        }
        if run.outcome != CommandOutcome::Failed || !run.is_major {
            return None;
        }
        // Another part of the chain failed: git begins its errors so.
        let is_of_git = run.line.is_some_and(|line| line.trim_start().starts_with("fatal: "));
        if is_of_git && !run.name.contains("git") {
            return None;
        }
        let named = run.line.map(|line| (line, describe_failure(run, line)));
        let explains = |why: &str| {
            (run.failed_test.is_some() || names_cause(why))
                && !(why.trim().ends_with(':') && count_words(why) <= 3)
        };
        if let Some((line, why)) = named.filter(|(_, why)| explains(why)) {
            return Some(Self { line: Some(line), why });
        }
        let failed = run.line.and_then(parse_failed_count);
        let code = match run.reported {
            // Stopped from outside, by Ctrl-C or `kill`.
            ToolOutcome::Exited(130 | 143) => return None,
            ToolOutcome::Exited(code) if code != 0 => Some(format!("exit {code}")),
            _ => None,
        };
        let known: Vec<String> =
            failed.map(|count| format!("{count} failed")).into_iter().chain(code).collect();
        let is_known = is_check && !known.is_empty();
        is_known.then(|| Self { line: None, why: format!("({})", known.join(", ")) })
    }

    /// A failure without a line that names its cause.
    fn describe(&self, name: &str, failed: &str) -> String {
        match self.why.starts_with('(') {
            true => format!("`{name}` {failed} {}", self.why),
            false => format!("`{name}` {}", self.why),
        }
    }
}

/// The number of failed tests in `3 passed; 1 failed`.
fn parse_failed_count(line: &str) -> Option<u32> {
    let (before, _) = line.split_once(" failed")?;
    let number = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    number.parse().ok().filter(|count| *count > 0)
}

/// A failure, with the runs of its command after it.
struct Problem<'r, 'a> {
    run: &'r CommandRun<'a>,
    cause: FailureCause<'a>,
    /// Whether it failed this way more than once.
    came_back: bool,
    /// The last time that it failed this way.
    last: &'r CommandRun<'a>,
    /// The first run after that, and the first success.
    next: Option<&'r CommandRun<'a>>,
    passed: Option<&'r CommandRun<'a>>,
    /// Whether a command passed later, or another one ran: the agent found another way.
    is_passed_over: bool,
    /// A success of another selection of tests, which does not prove that this one is fixed.
    other_passed: Option<&'r CommandRun<'a>>,
}

impl<'r, 'a> Problem<'r, 'a> {
    fn from_run(run: &'r CommandRun<'a>, runs: &[&'r CommandRun<'a>]) -> Option<Self> {
        let cause = FailureCause::of_run(run)?;
        let key = failure_key(&cause.why);
        let is_alike = |other: &CommandRun<'a>| {
            other.name == run.name
                && FailureCause::of_run(other).is_some_and(|other| failure_key(&other.why) == key)
        };
        let last = runs.iter().rev().find(|other| is_alike(other)).copied().unwrap_or(run);
        let came_back = last.event > run.event;
        let later = || runs.iter().copied().filter(|other| other.event > last.event);
        let passes = |other: &&CommandRun<'a>| other.outcome == CommandOutcome::Passed;
        let passed = later().filter(passes).find(|other| covers(other, last));
        let other_passed =
            later().filter(passes).find(|other| passed.is_none() && other.name == run.name);
        let next =
            later().find(|other| other.outcome != CommandOutcome::Unknown && covers(other, last));
        let is_passed_over = later().any(|other| {
            other.is_major
                && (passes(&other)
                    || other.outcome == CommandOutcome::Failed && other.name != run.name)
        });
        // Without a cause, a failure that was settled has nothing to say.
        let says = cause.line.is_some() || passed.is_none() && other_passed.is_none();
        says.then_some(Self {
            run,
            cause,
            came_back,
            last,
            next,
            passed,
            is_passed_over,
            other_passed,
        })
    }

    /// Two problems with the same subject are shown once. A test that fails again with another message
    /// is the same problem.
    fn subject(&self) -> String {
        self.run.failed_test.map_or_else(|| failure_key(&self.cause.why), without_digits)
    }

    /// Whether it went away by calling the command in another way, or by itself.
    fn is_passing_slip(&self) -> bool {
        let why = &self.cause.why;
        let is_transient = why.contains("index.lock") || why.contains(".lock': File exists");
        let has_passed = self.passed.is_some() || self.other_passed.is_some();
        (is_usage_error(why) || is_transient) && (has_passed || self.is_passed_over)
    }

    /// The files that were changed between the last failure and the next run.
    fn fixes(&self, events: &'r [Event]) -> Vec<ChangedFile<'r>> {
        let before = self.next.or(self.passed).map_or(0, |run| run.event);
        let mut files = changed_between(events, self.last.event, before);
        files.retain(|file| may_fix(self.run, file.path));
        files
    }

    fn describe(&self, turns: &[Turn<'_>], events: &[Event]) -> Option<DraftFact> {
        let run = self.run;
        let shown = |run: &CommandRun<'a>| run.line.unwrap_or_else(|| first_line(run.command_line));
        let mut evidence = vec![build_evidence(run.event, shown(run))];
        evidence.extend(run.failed_test.map(|test| build_evidence(run.event, test)));
        let latest =
            self.passed.or(self.other_passed).or(Some(self.last).filter(|_| self.came_back));
        evidence.extend(latest.map(|latest| build_evidence(latest.event, shown(latest))));
        let fixed = match (self.passed, self.other_passed) {
            (Some(passed), _) => {
                let fixes = self.fixes(events);
                evidence.extend(fixes.first().map(|file| build_evidence(file.event, file.raw)));
                self.describe_fix(turns, events, passed, &fixes)
            }
            (None, Some(passed)) => {
                let mut files = changed_between(events, self.last.event, passed.event);
                files.retain(|file| may_fix(self.run, file.path));
                evidence.extend(files.first().map(|file| build_evidence(file.event, file.raw)));
                match files.as_slice() {
                    [] => " — another run of it passed later".to_owned(),
                    files => {
                        format!(" — another run of it passed after {}", describe_changes(files))
                    }
                }
            }
            (None, None) => String::new(),
        };
        let Some(line) = self.cause.line else {
            let text = format!("{}{fixed}", self.cause.describe(&run.name, "failed"));
            let weight = self.weight(turns, events);
            return DraftFact::new(FactKind::Problem, &text, weight, evidence);
        };
        let text = format!("`{}` failed: ", run.name);
        let room = FACT_CHARS_MAX.saturating_sub(text.chars().count() + fixed.chars().count());
        let room = room.max(60);
        // The cause is more informative than the name of the test.
        let cause = match self.cause.why.chars().nth(room) {
            Some(_) => render_failure_message(line),
            None => self.cause.why.clone(),
        };
        let cause = shorten_paths(&cause);
        let shown = cut_clause(cause.trim_end_matches(['.', ':']), room);
        let text = format!("{text}{shown}{fixed}");
        DraftFact::new(FactKind::Problem, &text, self.weight(turns, events), evidence)
    }

    fn describe_fix(
        &self,
        turns: &[Turn<'_>],
        events: &[Event],
        passed: &CommandRun<'_>,
        fixes: &[ChangedFile<'_>],
    ) -> String {
        let fixer = turns.iter().flat_map(|turn| &turn.runs).find(|run| {
            (self.last.event + 1..passed.event).contains(&run.event)
                && run.outcome == CommandOutcome::Passed
                && run.name != self.run.name
                && writes_files(&run.name, run.command)
        });
        let end = self.next.map_or(passed.event, |next| next.event);
        let is_reverted = is_reverted(events, self.last.event, end);
        let word = if is_reverted { "reverting " } else { "" };
        match (fixes, fixer) {
            ([], Some(fixer)) => format!("{PASSED_AFTER}`{}`", fixer.name),
            ([], None) if is_push(&passed.name) && passed.name != self.run.name => {
                format!("{PASSED} as `{}`", passed.name)
            }
            ([], None) => PASSED_BY_ITSELF.to_owned(),
            (files, _) => format!("{PASSED_AFTER}{word}{}", describe_changes(files)),
        }
    }

    fn weight(&self, turns: &[Turn<'_>], events: &[Event]) -> u32 {
        let turn = turns.iter().find(|turn| turn.events.contains(&self.run.event));
        let is_asked =
            || turn.is_some_and(|turn| is_request_about(turn, self.run, &self.cause.why));
        // A failure that is fixed within its turn is of little interest later, unless the fix was a revert.
        let is_lasting = |passed: &CommandRun<'_>| {
            self.came_back
                || is_reverted(events, self.last.event, passed.event)
                || turn.is_some_and(|turn| !turn.events.contains(&passed.event))
        };
        match self.passed {
            None if self.other_passed.is_some() => PASSING_TROUBLE,
            None if is_asked() => 8,
            None if self.is_step(turns) => PASSING_TROUBLE,
            None if self.cause.line.is_none() && !self.is_of_last(turns) => PASSING_TROUBLE,
            // A failure that says why comes first.
            None if self.cause.line.is_none() => 5,
            None => 6,
            Some(_) if is_push(&self.run.name) => PASSING_TROUBLE,
            Some(_) if is_asked() => 8,
            Some(passed) if !is_bare_failure(&self.cause.why) && is_lasting(passed) => 8,
            Some(_) => PASSING_TROUBLE,
        }
    }

    /// Whether the command is a step that is repeated until it works, such as a push or an installation, or failed
    /// once while the session continued.
    fn is_step(&self, turns: &[Turn<'_>]) -> bool {
        const STEPS: &[&str] = &[
            "git",
            "gh",
            "brew",
            "apt",
            "apt-get",
            "npm install",
            "npm ci",
            "pnpm install",
            "pip",
            "pip3",
            "psql",
            "curl",
        ];
        begins_with_any(&self.run.name, STEPS) || !self.came_back && !self.is_of_last(turns)
    }

    fn is_of_last(&self, turns: &[Turn<'_>]) -> bool {
        turns.last().is_some_and(|turn| turn.events.contains(&self.last.event))
    }
}

/// Whether the agent wrote the failing files and corrected them in the same turn: no problem of the
/// project.
fn is_own_slip(turns: &[Turn<'_>], events: &[Event], problem: &Problem<'_, '_>) -> bool {
    let Some(passed) = problem.passed else { return false };
    let Some(turn) = turns.iter().find(|turn| turn.events.contains(&problem.run.event)) else {
        return false;
    };
    let fixes = problem.fixes(events);
    let is_own = |path: &str| {
        turn.files.iter().any(|file| {
            file.path == path
                && file.action == FileAction::Created
                && file.event < problem.run.event
        })
    };
    turn.events.contains(&passed.event)
        && !fixes.is_empty()
        && fixes.iter().all(|file| is_own(file.path))
}

/// Whether a command was only called with wrong arguments, or is missing.
fn is_usage_error(message: &str) -> bool {
    const MARKS: [&str; 11] = [
        "unrecognized subcommand",
        "corrupt patch",
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

/// Whether the change of a file can be the reason that a command passes. A text file cannot; for git, nothing
/// can.
fn may_fix(run: &CommandRun<'_>, path: &str) -> bool {
    let is_text = [".md", ".txt", ".rst", ".log"].iter().any(|end| path.ends_with(end));
    // Nor does code install a program.
    let is_missing = run.line.is_some_and(|line| {
        let lower = to_lower(line);
        lower.contains("failed to spawn") || lower.contains("command not found")
    });
    !is_text && !is_missing && !run.name.starts_with("git ")
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

/// The first sentence of a message without its file, by which a failure is recognized.
fn failure_key(why: &str) -> String {
    let from = ["error TS", "error["].iter().find_map(|mark| why.find(mark)).unwrap_or(0);
    let message = why.get(from..).unwrap_or(why);
    without_digits(message.split(". ").next().unwrap_or(message))
}

/// A message without line numbers and durations.
fn without_digits(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether a message only reports that a test failed, without the reason.
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
            || to_lower(&request.text)
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word.starts_with("fail") || matches!(word, "ci" | "broken" | "red"))
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

struct ChangedFile<'e> {
    path: &'e str,
    /// The verbatim text that names it.
    raw: &'e str,
    event: usize,
}

/// The files that were changed between two events, each once.
fn changed_between(events: &[Event], after: usize, before: usize) -> Vec<ChangedFile<'_>> {
    let mut found: Vec<ChangedFile<'_>> = Vec::new();
    for (at, event) in events.iter().enumerate().take(before).skip(after + 1) {
        let Some(tool) = &event.tool else { continue };
        if matches!(
            read_outcome(event, tool),
            ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::NoResult
        ) {
            continue;
        }
        let patch = find_command_line(tool).filter(|line| line.contains("*** Begin Patch"));
        let patched = patch.map(parse_patch_files).unwrap_or_default();
        for file in parse_touched_files(event, tool).into_iter().chain(patched) {
            if file.action != FileAction::Read && !found.iter().any(|known| known.path == file.path)
            {
                found.push(ChangedFile { path: file.path, raw: file.raw, event: at });
            }
        }
    }
    found
}

fn describe_changes(files: &[ChangedFile<'_>]) -> String {
    let paths: Vec<&str> = files.iter().map(|file| file.path).collect();
    describe_paths(&paths)
}

fn describe_paths(paths: &[&str]) -> String {
    match paths {
        [] => "changes".to_owned(),
        [only] => format!("changes to {}", base_name(only)),
        [first, second] => format!("changes to {} and {}", base_name(first), base_name(second)),
        [first, rest @ ..] => {
            format!("changes to {} and {} more files", base_name(first), rest.len())
        }
    }
}

/// Whether a question only offers the next step: "Want me to commit this?"
pub(crate) fn is_chore_offer(question: &str) -> bool {
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
    let is_left =
        |file: &&TurnFile<'_>| file.action != FileAction::Read && file.last_event > committed;
    let changed: Vec<&str> = turn.files.iter().filter(is_left).map(|file| file.path).collect();
    (!changed.is_empty()).then(|| describe_paths(&changed))
}

/// Whether a question only offers to continue.
fn is_courtesy_question(text: &str) -> bool {
    #[rustfmt::skip]
    const OFFERS: &[&str] = &[
        "what else", "anything else", "what would you like", "what's next", "how can i help",
        "what do you want to", "any questions", "на сегодня вс", "ещё задач", "что-то ещё", "还有什么",
        "還有什麼", "他に何か", "noch etwas", "algo más", "mais alguma coisa", "autre chose",
    ];
    let lower = to_lower(text);
    OFFERS.iter().any(|offer| lower.contains(offer))
}

/// Finds the open end of the last turn: a question to the user, an interrupted request, or a failing
/// check.
pub(crate) fn find_open_end(
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
    } else if last.is_interrupted && last.commits.is_empty() {
        let says = |request: &&UserRequest<'_>| {
            request.weight >= 3
                && (last.begins_session || !leans_on_conversation(&request.text))
                && !looks_pasted(&request.text)
        };
        let request = last.request.as_ref().filter(says)?;
        let evidence = vec![build_evidence(request.event, request.raw)];
        let text = format!("Interrupted: {}", capitalize(&request.text));
        return DraftFact::new(FactKind::Open, &text, 5, evidence);
    }
    let failing = last.runs.iter().rev().find(|run| run.is_major)?;
    let cause = FailureCause::of_run(failing)?;
    let is_reported = facts.iter().any(|fact| {
        fact.kind == FactKind::Problem && fact.event == failing.event && !fact.text.contains(PASSED)
    });
    let text = match cause.line {
        Some(line) => format!("`{}` fails: {}", failing.name, render_failure_message(line)),
        None => cause.describe(&failing.name, "fails"),
    };
    let shown = failing.line.unwrap_or_else(|| first_line(failing.command_line));
    let evidence = vec![build_evidence(failing.event, shown)];
    is_reported.then(|| DraftFact::new(FactKind::Open, &text, 6, evidence)).flatten()
}
