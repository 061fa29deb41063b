//! The commands that check a project and passed: each suite once, as it can be run again.

use tome_model::{CommandOutcome, FactKind};

use crate::extract::commands::chain::split_words;
use crate::extract::commands::command_name::{strip_wrappers, writes_files};
use crate::extract::commands::command_run::CommandRun;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::turns::turn::Turn;

const CHECKS_MAX: usize = 6;
/// The latest runs are compared with each other.
const RUNS_MAX: usize = 200;
/// A longer command line is an ad-hoc script.
const COMMAND_CHARS_MAX: usize = 120;

/// Adds the commands that build, test or check, and passed: of every suite the latest full run.
pub(crate) fn add_checks(turns: &[Turn<'_>], facts: &mut Vec<DraftFact>) {
    let runs = turns.iter().rev().flat_map(|turn| turn.runs.iter().rev());
    let mut runs: Vec<&CommandRun<'_>> =
        runs.filter(|run| is_passed_check(run)).take(RUNS_MAX).collect();
    runs.reverse();
    let mut shown: Vec<String> = Vec::new();
    for (index, run) in runs.iter().enumerate().rev() {
        let is_repeated = runs.iter().enumerate().any(|(other_index, other)| {
            other_index != index
                && covers(other, run)
                && (other_index > index || !covers(run, other))
        });
        let Some(text) = show_command(run).filter(|_| !is_repeated) else { continue };
        if shown.contains(&text) || shown.len() >= CHECKS_MAX {
            continue;
        }
        let mut evidence = vec![build_evidence(run.event, command_without_redirection(run))];
        evidence.extend(run.line.map(|line| build_evidence(run.event, line)));
        let passes = runs.iter().filter(|other| covers(run, other)).count();
        let weight = u32::try_from(passes).unwrap_or(1);
        facts.extend(DraftFact::new(FactKind::Check, &text, weight, evidence));
        shown.push(text);
    }
}

fn is_passed_check(run: &CommandRun<'_>) -> bool {
    run.outcome == CommandOutcome::Passed
        && run.is_major
        && names_check(&run.name)
        && !writes_files(&run.name, run.command)
}

/// Whether a command builds, tests or checks, by its name.
pub(crate) fn names_check(name: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 14] = [
        "test", "tests", "build", "check", "clippy", "lint", "fmt", "vet", "tsc", "pytest", "mypy",
        "ruff", "typecheck", "verify",
    ];
    name.split([' ', ':', '-']).any(|word| WORDS.contains(&word))
}

/// The command with the folder and the environment that it needs.
fn show_command(run: &CommandRun<'_>) -> Option<String> {
    let command = command_without_redirection(run);
    let text = run.environment.complete(command).filter(|_| !command.contains(['\n', '$']))?;
    (text.chars().count() <= COMMAND_CHARS_MAX).then_some(text)
}

fn command_without_redirection<'a>(run: &CommandRun<'a>) -> &'a str {
    run.command.trim_end_matches("2>&1").trim()
}

/// Whether a run checks at least what another one did: the same command in the same folder, with no
/// narrower selection.
pub(crate) fn covers(run: &CommandRun<'_>, other: &CommandRun<'_>) -> bool {
    let is_same = suite_name(&run.name) == suite_name(&other.name)
        && run.environment.folder.is_some()
        && run.environment.folder == other.environment.folder;
    if !is_same {
        return false;
    }
    let (own, others) = (SuiteSelection::from_run(run), SuiteSelection::from_run(other));
    if suite_name(&run.name) == PUSH {
        return own.settles_push(&others);
    }
    let is_inside = |path: &&str| {
        own.paths.iter().any(|outer| {
            path.strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        })
    };
    own.flags.iter().all(|flag| others.flags.contains(flag))
        && others.flags.iter().all(|flag| own.flags.contains(flag) || is_narrowing(flag))
        && (own.paths.is_empty() || !others.paths.is_empty() && others.paths.iter().all(is_inside))
}

/// Whether a flag selects a part of what a command would check without it; others may widen it.
fn is_narrowing(flag: &str) -> bool {
    #[rustfmt::skip]
    const FLAGS: &[&str] = &[
        "-run", "-k", "-m", "-t", "-g", "-p", "--package", "--filter", "--grep", "--only", "--test", "--lib",
        "--bin", "--bins", "--doc", "--testNamePattern", "--testPathPattern", "--tests", "--exclude",
    ];
    FLAGS.contains(&flag.split('=').next().unwrap_or(flag))
}

const PUSH: &str = "git push";

/// `npm run test` is `npm test`, and a push is one whatever it overwrites.
fn suite_name(name: &str) -> String {
    if is_push(name) { PUSH.to_owned() } else { name.replace(" run test", " test") }
}

/// Whether a command is `git push`, with force or without.
pub(crate) fn is_push(name: &str) -> bool {
    name.strip_prefix(PUSH).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The part of a suite that a command selects.
#[derive(Debug, Default)]
struct SuiteSelection<'a> {
    /// Paths, patterns and values of flags.
    paths: Vec<&'a str>,
    flags: Vec<&'a str>,
}

impl<'a> SuiteSelection<'a> {
    /// Whether a push brought what another one was to bring: the same branch, as far as they name it.
    fn settles_push(&self, other: &Self) -> bool {
        const OTHERS: [&str; 5] = ["--dry-run", "-n", "--delete", "-d", "--tags"];
        let branch_of = |push: &Self| {
            let branch = push.paths.get(1).map(|branch| branch.trim_start_matches('+'));
            branch.map(|branch| branch.rsplit_once(':').map_or(branch, |(_, to)| to).to_owned())
        };
        let is_same = match (branch_of(self), branch_of(other)) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        is_same && !self.flags.iter().any(|flag| OTHERS.contains(flag))
    }

    fn from_run(run: &CommandRun<'a>) -> Self {
        /// Flags that change the output or a limit, but not the scope of the check.
        #[rustfmt::skip]
        const SILENT: &[&str] = &[
            "-v", "-vv", "-q", "-s", "-x", "-ra", "-rA", "--verbose", "--quiet", "--silent",
            "--tb", "--cov", "--cov-report", "--coverage", "--color", "--no-color", "--colors",
            "--reporter", "--reporters", "--nocapture", "--show-output", "-timeout", "--timeout",
            "-count", "--bail", "--ci", "--watch", "--watchAll", "--runInBand", "--durations",
            "--maxfail", "--no-header", "--disable-warnings", "--locked", "--offline",
            "--message-format", "--output-format", "--format", "--test-threads", "--no-fail-fast",
            "-j", "--",
        ];
        /// Those whose value may be the next word.
        #[rustfmt::skip]
        const VALUED: &[&str] = &[
            "--tb", "--color", "--reporter", "-timeout", "--timeout", "-count", "--durations",
            "--maxfail", "--message-format", "--output-format", "--format", "--test-threads", "-j",
        ];
        /// Paths that select everything.
        const WHOLE: [&str; 5] = [".", "...", "tests", "test", ""];
        let words = strip_wrappers(run.command).unwrap_or_else(|| split_words(run.command));
        let is_named = |word: &str| run.name.split(' ').any(|named| named == word);
        let mut selection = Self::default();
        let mut rest = words.into_iter().skip(1);
        while let Some(word) = rest.next() {
            let flag = word.split('=').next().unwrap_or(word);
            if word.contains(['>', '<']) {
                // `> file` names the file in the next word.
                if word.ends_with(['>', '<']) {
                    rest.next();
                }
            } else if SILENT.contains(&flag) {
                if flag == word && VALUED.contains(&flag) {
                    rest.next();
                }
            } else if word.starts_with('-') {
                // `python -m pytest` is `pytest`, and `pytest -m slow` a part of it.
                let is_module = word == "-m" && rest.clone().next().is_some_and(is_named);
                if !is_module {
                    selection.flags.push(word);
                }
            } else {
                let path = word.trim_start_matches("./").trim_end_matches('/');
                if !is_named(word) && !WHOLE.contains(&path) {
                    selection.paths.push(path);
                }
            }
        }
        selection
    }
}
