//! Commands as models. Unix only: the scripts are for `sh`.
#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

use tome_llm::{
    CancelToken, CommandLine, CommandModel, CommandSettings, Completion, CompletionRequest,
    LanguageModel, ModelFailure, WaitOutcome,
};

use crate::server::prompt;

fn settings(line: &str) -> CommandSettings {
    CommandSettings {
        line: CommandLine::Shell(line.to_owned()),
        timeout: Duration::from_secs(20),
        dir: None,
        variables: Vec::new(),
    }
}

fn run(settings: CommandSettings) -> Result<Completion, ModelFailure> {
    CommandModel::new(settings, CancelToken::default())?.complete(&prompt())
}

/// Waits until a condition holds, with a deadline.
fn becomes_true(is_so: impl Fn() -> bool) -> bool {
    let patience = CancelToken::default();
    (0..1_000)
        .any(|_| is_so() || patience.wait(Duration::from_millis(10)) == WaitOutcome::Cancelled)
}

/// Whether a process exists and is not a zombie. Always `false` where there is no `/proc`.
fn lives(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_command_reads_the_prompt_and_prints_the_answer() {
    let line = CommandLine::Program(vec!["cat".to_owned()]);
    let done = run(CommandSettings { line, ..settings("") }).unwrap();
    assert_eq!(done.text, "Summarise.\n\nWe fixed the parser.");
    assert!(done.input_tokens > 0 && done.output_tokens > 0);
}

#[test]
fn arguments_are_not_interpreted_by_a_shell() {
    let words = ["printf", "%s", "$HOME; `id` *"].map(str::to_owned).to_vec();
    let done = run(CommandSettings { line: CommandLine::Program(words), ..settings("") }).unwrap();
    assert_eq!(done.text, "$HOME; `id` *");
}

#[test]
fn folder_and_variables_are_set_and_the_environment_is_inherited() {
    let dir = tempfile::tempdir().unwrap();
    let done = run(CommandSettings {
        dir: Some(dir.path().to_owned()),
        variables: vec![("TOME_TEST".to_owned(), "set".to_owned())],
        ..settings("echo \"$TOME_TEST ${PATH:+has a path}\"; pwd -P")
    });
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(done.unwrap().text, format!("set has a path\n{}", here.display()));
}

#[test]
fn an_unread_large_prompt_does_not_block() {
    let model = CommandModel::new(settings("echo done"), CancelToken::default()).unwrap();
    let large = CompletionRequest { user: "x".repeat(1024 * 1024), ..prompt() };
    assert_eq!(model.complete(&large).unwrap().text, "done");
}

#[test]
fn a_failing_command_reports_its_error() {
    let failure = run(settings("echo partial; echo no credit left >&2; exit 3")).unwrap_err();
    assert_eq!(failure.to_string(), "sh failed (exit status: 3): no credit left");
    let failure = run(settings("echo log in first; exit 1")).unwrap_err();
    assert_eq!(failure.to_string(), "sh failed (exit status: 1): log in first");
    let failure = run(settings("kill -9 $$")).unwrap_err();
    assert!(failure.to_string().contains("signal: 9"), "{failure}");
}

#[test]
fn empty_output_is_malformed() {
    assert!(matches!(run(settings("true")).unwrap_err(), ModelFailure::Malformed { .. }));
}

#[test]
fn too_much_output_is_rejected() {
    let failure = run(settings("yes")).unwrap_err();
    assert_eq!(failure.to_string(), "the answer cannot be read: longer than 1048576 bytes");
    // Unlimited stderr is harmless: only its tail is kept.
    let done = run(settings("yes complaint | head -c 3000000 >&2; echo fine")).unwrap();
    assert_eq!(done.text, "fine");
}

#[test]
fn a_missing_program_is_named_in_the_error() {
    let line = CommandLine::Program(vec!["/nowhere/tome-no-such-model".to_owned()]);
    let failure = run(CommandSettings { line, ..settings("") }).unwrap_err();
    assert!(matches!(&failure, ModelFailure::SpawnFailed { .. }), "{failure:?}");
    assert!(failure.to_string().contains("/nowhere/tome-no-such-model"), "{failure}");
    for line in [CommandLine::Program(Vec::new()), CommandLine::Shell(" ".to_owned())] {
        let failure = run(CommandSettings { line, ..settings("") }).unwrap_err();
        assert!(matches!(failure, ModelFailure::Misconfigured(_)), "{failure:?}");
    }
}

#[test]
fn the_name_of_a_command_model_contains_the_program() {
    let named = |line| {
        let settings = CommandSettings { line, ..settings("") };
        CommandModel::new(settings, CancelToken::default()).unwrap().name().to_owned()
    };
    let words = ["/usr/bin/claude", "-p"].map(str::to_owned).to_vec();
    assert_eq!(named(CommandLine::Program(words)), "command/claude");
    assert_eq!(named(CommandLine::Shell("llm -m small | tail".to_owned())), "command/llm");
}

/// A script that records the pid of a child living for a minute, and then runs `then`.
fn with_child(dir: &Path, then: &str) -> String {
    let dir = dir.display();
    format!("sleep 60 & echo $! > {dir}/new; mv {dir}/new {dir}/pid; {then}")
}

fn child_dies(dir: &Path) -> bool {
    let pid = std::fs::read_to_string(dir.join("pid")).unwrap();
    becomes_true(|| !lives(pid.trim()))
}

#[test]
fn a_hanging_command_times_out() {
    let timeout = Duration::from_millis(100);
    let failure = run(CommandSettings { timeout, ..settings("sleep 60") }).unwrap_err();
    assert_eq!(failure, ModelFailure::TimedOut { after: timeout });
}

#[test]
fn children_of_a_finished_command_are_ended() {
    let dir = tempfile::tempdir().unwrap();
    // The child holds stdout open; the answer must not wait for it.
    assert_eq!(run(settings(&with_child(dir.path(), "echo done"))).unwrap().text, "done");
    assert!(child_dies(dir.path()));
}

#[test]
fn cancelling_ends_a_running_command_and_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let stop = CancelToken::default();
    let hangs = settings(&with_child(dir.path(), "wait"));
    let model = CommandModel::new(hangs, stop.clone()).unwrap();
    let running = std::thread::spawn(move || model.complete(&prompt()));
    assert!(becomes_true(|| dir.path().join("pid").exists()));
    stop.cancel();
    assert_eq!(running.join().unwrap().unwrap_err(), ModelFailure::Cancelled);
    assert!(child_dies(dir.path()));
}
