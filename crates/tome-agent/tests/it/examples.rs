//! The examples run offline and print the expected output.

use std::path::{Path, PathBuf};
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

/// The code blocks in the documentation of a source file.
fn doc_examples(source: &str) -> String {
    let mut is_code = false;
    let docs = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))
    });
    let lines = docs.filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_example_needs_another_crate_of_the_workspace() {
    let crate_folder = Path::new(".");
    let (mut examples, mut sources) = (Vec::new(), Vec::new());
    rust_files(&crate_folder.join("examples"), &mut examples);
    rust_files(&crate_folder.join("src"), &mut sources);
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let examples = examples.iter().map(|path| (path, read(path)));
    let in_docs = sources.iter().map(|path| (path, doc_examples(&read(path))));
    let mut checked = 0;
    for (path, code) in examples.chain(in_docs).filter(|(_, code)| !code.is_empty()) {
        checked += 1;
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        let others: Vec<&str> =
            words.filter(|word| word.starts_with("tome_") && *word != "tome_agent").collect();
        assert!(others.is_empty(), "{} names {others:?}", path.display());
    }
    assert!(checked > 3, "only {checked} files with examples were found");
}
