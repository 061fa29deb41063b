//! Parses the commands of a shell tool call and their outcomes.
//!
//! An exit code belongs to the last command of a chain. It proves that a command passed only if
//! nothing after it hides its own code, and that it failed only if no other command could have.

use serde_json::Value;
use tome_model::{CommandOutcome, Event, Tool};

use crate::extract::commands::chain::{ChainJoint, ChainPart, split_chain};
use crate::extract::commands::command_environment::{CommandEnvironment, read_environments};
use crate::extract::commands::command_name::{name_command, writes_files};
use crate::extract::commands::failures::{
    NO_CAUSE, find_diagnostic, find_failure_line, find_success_line, ran_no_tests, reports_failure,
};
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::language::text::{find_text_field, output_texts};

/// A command that a tool call ran.
#[derive(Debug, Clone)]
pub(crate) struct CommandRun<'a> {
    pub(crate) event: usize,
    /// The command line of the tool call, verbatim.
    pub(crate) command_line: &'a str,
    /// The command itself, verbatim; the whole line if a chain failed somewhere.
    pub(crate) command: &'a str,
    /// Short name, such as `cargo test`.
    pub(crate) name: String,
    pub(crate) environment: CommandEnvironment<'a>,
    pub(crate) outcome: CommandOutcome,
    /// How its tool call ended.
    pub(crate) reported: ToolOutcome,
    /// The output line that shows the outcome: of a failure, the one that names its cause.
    pub(crate) line: Option<&'a str>,
    /// The output line that names the failed test, if another one names the cause.
    pub(crate) failed_test: Option<&'a str>,
    /// Whether it builds, tests or ships.
    pub(crate) is_major: bool,
}

/// A named command of a chain.
struct NamedPart<'a> {
    text: &'a str,
    name: String,
    environment: CommandEnvironment<'a>,
    is_major: bool,
    /// Whether it changes files rather than checking them.
    is_writer: bool,
    /// Whether another exit code hides its own.
    is_masked: bool,
}

/// Parses the commands of a tool call that do more than inspect.
pub(crate) fn parse_command_runs<'a>(
    at: usize,
    event: &'a Event,
    tool: &'a Tool,
) -> Vec<CommandRun<'a>> {
    let Some(line) = find_command_line(tool) else { return Vec::new() };
    let chain = split_chain(line);
    let parts = name_parts(&chain, read_environments(&chain, event, tool));
    if parts.is_empty() {
        return Vec::new();
    }
    let texts = output_texts(event);
    let reported_failure = best_match(&texts, find_failure_line);
    let failure = reported_failure.filter(|(_, sure)| *sure > NO_CAUSE);
    let success = best_match(&texts, find_success_line);
    let reported = read_outcome(event, tool);
    let run = |part: &NamedPart<'a>, outcome, shown: Option<(&'a str, u32)>| {
        let is_failed = outcome == CommandOutcome::Failed && part.is_major;
        let cause = if is_failed { find_cause(&texts, shown) } else { None };
        CommandRun {
            event: at,
            command_line: line,
            command: part.text,
            name: part.name.clone(),
            environment: part.environment.clone(),
            outcome,
            reported,
            line: cause.or(shown).map(|(line, _)| line),
            failed_test: shown.filter(|_| cause.is_some()).map(|(line, _)| line),
            is_major: part.is_major,
        }
    };
    if let ToolOutcome::Exited(code) = reported
        && code != 0
    {
        let line_shown = reported_failure.map(|(line, _)| line);
        if line_shown.is_some_and(|shown| is_blamed_on_other(&chain, &parts, shown)) {
            return parts.iter().map(|part| run(part, CommandOutcome::Unknown, None)).collect();
        }
        return find_failed(&chain, &parts, line_shown).map_or_else(
            || chain_failure(at, line, &parts, (reported, failure)).into_iter().collect(),
            |failed| {
                let rest = parts.iter().filter(|part| !std::ptr::eq(*part, failed));
                let rest = rest.map(|part| run(part, CommandOutcome::Unknown, None));
                let failed = if failed.is_masked && !reports_failure(&texts) {
                    // The exit code of `… | grep x` is that of `grep`.
                    run(failed, CommandOutcome::Unknown, None)
                } else {
                    run(failed, CommandOutcome::Failed, failure)
                };
                rest.chain(std::iter::once(failed)).collect()
            },
        );
    }
    let checks = |part: &&NamedPart<'a>| part.is_major && !part.is_writer;
    let majors = parts.iter().filter(checks).count();
    let verdict = |part: &NamedPart<'a>| {
        // Output shows the outcome of a hidden command only if no other could have written it.
        let alone = parts.len() == 1 || checks(&part) && majors == 1;
        match (checks(&part) && alone && reports_failure(&texts), success) {
            _ if !alone => (CommandOutcome::Unknown, None),
            (true, _) => (CommandOutcome::Failed, failure),
            (_, Some((_, sure))) if sure >= 5 => (CommandOutcome::Passed, success),
            _ => (CommandOutcome::Unknown, None),
        }
    };
    let outcome = |part: &NamedPart<'a>| match reported {
        ToolOutcome::Exited(_) if !part.is_masked => {
            (CommandOutcome::Passed, success.filter(|_| parts.len() == 1))
        }
        ToolOutcome::Exited(_) | ToolOutcome::Unknown => verdict(part),
        ToolOutcome::TimedOut if parts.len() == 1 => (CommandOutcome::TimedOut, None),
        _ => (CommandOutcome::Unknown, None),
    };
    let is_empty_run = ran_no_tests(&texts);
    parts
        .iter()
        .map(|part| match outcome(part) {
            (CommandOutcome::Passed, _) if is_empty_run && is_test(&part.name) => {
                run(part, CommandOutcome::Unknown, None)
            }
            (outcome, shown) => run(part, outcome, shown),
        })
        .collect()
}

fn is_test(name: &str) -> bool {
    name.split([' ', ':', '-', '/']).any(|word| {
        matches!(
            word,
            "test" | "tests" | "pytest" | "jest" | "vitest" | "rspec" | "phpunit" | "e2e"
        )
    })
}

fn name_parts<'a>(
    chain: &[ChainPart<'a>],
    environments: Vec<CommandEnvironment<'a>>,
) -> Vec<NamedPart<'a>> {
    let keeps_codes = chain.iter().any(|part| {
        part.stages
            .first()
            .is_some_and(|stage| stage.starts_with("set ") && stage.contains("pipefail"))
    });
    let mut parts = Vec::new();
    for ((index, part), environment) in chain.iter().enumerate().zip(environments) {
        let Some(text) = part.stages.first() else { continue };
        let Some((name, is_major)) = name_command(text) else { continue };
        let hidden = chain.iter().skip(index + 1).any(|next| next.joint != ChainJoint::And);
        let piped = part.stages.len() > 1 && !keeps_codes;
        let is_writer = writes_files(&name, text);
        let is_masked = hidden || piped;
        parts.push(NamedPart { text, name, environment, is_major, is_writer, is_masked });
    }
    parts
}

/// Whether a message comes from a small command of the chain, such as `rm: x: No such file`. What
/// follows it did not run.
fn is_blamed_on_other(chain: &[ChainPart<'_>], parts: &[NamedPart<'_>], message: &str) -> bool {
    const SPEAKER_FIELDS: usize = 4;
    let mut speakers = message.split(':').take(SPEAKER_FIELDS).map(str::trim);
    let is_small = |stage: &&str| !parts.iter().any(|part| part.text == *stage);
    let small: Vec<&str> = chain
        .iter()
        .filter_map(|part| part.stages.first().filter(|stage| is_small(stage)))
        .filter_map(|stage| stage.split_whitespace().next())
        .collect();
    speakers.any(|speaker| small.contains(&speaker))
}

/// Finds the part of a chain that ended with a failure: the only one that could have, or the only
/// one that the message names.
fn find_failed<'p, 'a>(
    chain: &[ChainPart<'a>],
    parts: &'p [NamedPart<'a>],
    message: Option<&str>,
) -> Option<&'p NamedPart<'a>> {
    if let [only] = parts {
        // `ls x && cargo test`: `ls` may have failed; the output then shows no failure of the test.
        let sure = chain.len() == 1
            || message.is_some()
            || chain.iter().all(|part| {
                part.stages.first().is_some_and(|stage| *stage == only.text || rarely_fails(stage))
            });
        return sure.then_some(only);
    }
    let message = message?;
    let lower = message.to_lowercase();
    let names = |part: &&NamedPart<'a>| {
        part.name.rsplit([' ', ':']).next().is_some_and(|word| {
            word.len() > 2 && lower.split(|c: char| !c.is_alphanumeric()).any(|other| other == word)
        })
    };
    find_only(parts, names).or_else(|| {
        let program = find_author(message)?;
        find_only(parts, |part| part.name.split([' ', ':']).any(|word| word == program))
    })
}

fn find_only<'p, 'a>(
    parts: &'p [NamedPart<'a>],
    is_meant: impl Fn(&&NamedPart<'a>) -> bool,
) -> Option<&'p NamedPart<'a>> {
    let mut meant = parts.iter().filter(|part| is_meant(part));
    meant.next().filter(|_| meant.next().is_none())
}

/// The program that writes messages of this form.
fn find_author(message: &str) -> Option<&'static str> {
    const FORMS: [(&str, &str); 9] = [
        ("error TS", "tsc"),
        ("error[E", "cargo"),
        ("AssertionError", "pytest"),
        ("FAILED tests/", "pytest"),
        ("externally-managed-environment", "pip"),
        ("No matching distribution", "pip"),
        ("npm ERR!", "npm"),
        ("npm error", "npm"),
        ("fatal: ", "git"),
    ];
    FORMS.iter().find(|(form, _)| message.contains(form)).map(|(_, program)| *program)
}

fn rarely_fails(stage: &str) -> bool {
    [
        "cd ", "echo ", "export ", "set ", "mkdir -p", "printf ", "source ", "rm -f", "rm -rf",
        "sleep ",
    ]
    .iter()
    .any(|start| stage.starts_with(start))
}

/// A chain that failed somewhere: it is named as a whole.
fn chain_failure<'a>(
    at: usize,
    line: &'a str,
    parts: &[NamedPart<'a>],
    (reported, failure): (ToolOutcome, Option<(&'a str, u32)>),
) -> Option<CommandRun<'a>> {
    let environment = parts.first()?.environment.clone();
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.dedup();
    Some(CommandRun {
        event: at,
        command_line: line,
        command: line,
        name: names.join(" && "),
        environment,
        outcome: CommandOutcome::Failed,
        reported,
        line: failure.map(|(line, _)| line),
        failed_test: None,
        is_major: parts.iter().any(|part| part.is_major),
    })
}

/// The line that names the cause of a failure, if the best line only names what failed.
fn find_cause<'a>(texts: &[&'a str], shown: Option<(&'a str, u32)>) -> Option<(&'a str, u32)> {
    let names_only = shown.is_none_or(|(line, _)| {
        let bare = line.trim_start();
        ["--- FAIL", "FAIL\t", "FAIL ", "FAILED "].iter().any(|start| bare.starts_with(start))
    });
    if names_only { best_match(texts, find_diagnostic) } else { None }
}

fn best_match<'a>(
    texts: &[&'a str],
    find: fn(&'a str) -> Option<(&'a str, u32)>,
) -> Option<(&'a str, u32)> {
    let found = texts.iter().filter_map(|text| find(text));
    found.reduce(|best, one| if one.1 > best.1 { one } else { best })
}

/// Returns the command line of a tool call, if the tool is a shell.
pub(crate) fn find_command_line(tool: &Tool) -> Option<&str> {
    const SHELLS: [&str; 13] = [
        "bash",
        "shell",
        "run_shell_command",
        "exec_command",
        "execute_command",
        "powershell",
        "run_in_terminal",
        "terminal",
        "local_shell",
        "shell_command",
        "exec",
        "run_command",
        // Codex reads the rest of a command's output with it; the transcript's reader names the command.
        "write_stdin",
    ];
    if !SHELLS.iter().any(|shell| tool.name.eq_ignore_ascii_case(shell)) {
        return None;
    }
    let input = &tool.input;
    // A text given to Codex's `exec` is a script in JavaScript.
    let text = input.as_str().filter(|_| tool.name != "exec");
    find_text_field(input, &["command", "cmd", "script"]).or(text).or_else(|| {
        // `["bash", "-lc", "cargo test"]`: the last element is the command line.
        let parts = input.get("command").or_else(|| input.get("cmd"))?.as_array()?;
        parts.iter().rev().find_map(Value::as_str)
    })
}
