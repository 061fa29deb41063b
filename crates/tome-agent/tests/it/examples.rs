//! The examples run offline and print the expected output.

use std::path::PathBuf;
use std::process::Command;

/// Cargo builds the examples beside the tests.
fn run(example: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let program: PathBuf = folder.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(&program)
        .arg(home.path().join("tome"))
        .current_dir(home.path())
        .env_remove("ANTHROPIC_API_KEY")
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", program.display()));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

#[test]
fn the_minimal_agent_knows_the_name_in_the_next_session() {
    let stdout = run("minimal");
    assert!(stdout.contains("[memory_write ") && stdout.contains("[memory_read "), "{stdout}");
    assert!(stdout.contains("> What is my name?\n") && stdout.contains("You are Ada."), "{stdout}");
    let source = include_str!("../../examples/minimal.rs");
    assert!(source.lines().count() < 80);
}

#[test]
fn a_custom_summarizer_receives_the_removed_turns() {
    let stdout = run("summarizer");
    assert!(stdout.contains("summarized by decisions in detail/compaction-"), "{stdout}");
    assert!(stdout.contains("2 decisions\n- Let us decide: the store is an LSM tree."), "{stdout}");
}

#[test]
fn an_agent_opens_the_home_without_a_daemon() {
    let stdout = run("shared_home");
    assert!(stdout.starts_with("memory: this process\nHerons wait.\n"), "{stdout}");
    assert!(stdout.contains("stored: user_message How do herons hunt?\n"), "{stdout}");
}
