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
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn the_minimal_agent_knows_the_name_in_the_next_session() {
    let said = run("minimal");
    assert!(said.contains("[memory_write ") && said.contains("[memory_read "), "{said}");
    assert!(said.contains("> What is my name?\n") && said.contains("You are Ada."), "{said}");
    let source = include_str!("../../examples/minimal.rs");
    assert!(source.lines().count() < 80);
}

#[test]
fn a_summarizer_of_ones_own_says_what_leaves() {
    let said = run("summarizer");
    assert!(said.contains("summarized by decisions in detail/compaction-"), "{said}");
    assert!(said.contains("2 decisions\n- Let us decide: the store is an LSM tree."), "{said}");
}

#[test]
fn without_a_daemon_an_agent_opens_the_home_itself() {
    let said = run("shared_home");
    assert!(said.starts_with("memory: this process\nHerons wait.\n"), "{said}");
    assert!(said.contains("stored: user_message How do herons hunt?\n"), "{said}");
}
