//! `tome memory log`, `show`, `diff`, `restore`: versions, authors and restoring.

use serde_json::Value;
use tome_testkit::World;

use crate::notes_cli::{check_refused, memory, memory_json};
use crate::support::world;

/// One field of every version, newest first.
fn fields(world: &World, field: &str) -> Vec<Value> {
    memory_json(world, &["log", "a.md"]).iter().map(|version| version[field].clone()).collect()
}

fn versions(world: &World) -> Vec<String> {
    fields(world, "version").iter().map(|version| version.as_str().unwrap().to_owned()).collect()
}

fn file(world: &World, path: &str) -> std::path::PathBuf {
    let folder = world.tome(&["init", "--json"]).json()["folder"].as_str().unwrap().to_owned();
    std::path::Path::new(&folder).join(path)
}

#[test]
fn the_log_shows_author_change_and_time() {
    let world = world();
    let note = r#"{"path": "a.md", "content": "one\ntwo\n"}"#;
    let agent = ["--agent", "claude-code", "--session", "6f0c5b1e"];
    assert_eq!(world.tome(&[&["tool", "memory_write", note], &agent[..]].concat()).code, 0);
    memory(&world, &["patch", "a.md", "--old", "two", "--new", "2\n3"]);
    std::fs::write(file(&world, "a.md"), "by hand\n").unwrap();
    memory(&world, &["delete", "a.md"]);
    assert_eq!(fields(&world, "op"), ["deleted", "changed", "changed", "created"]);
    assert_eq!(fields(&world, "who"), ["person", "outside", "person", "agent"]);
    assert_eq!(fields(&world, "added"), [0, 1, 2, 2]);
    assert_eq!(fields(&world, "removed"), [1, 3, 1, 0]);
    assert_eq!(fields(&world, "agent")[3], "claude-code");
    assert_eq!(fields(&world, "session_id")[3], "6f0c5b1e");
    let tools = fields(&world, "tool");
    assert_eq!((&tools[0], &tools[2]), (&"tome memory delete".into(), &"tome memory patch".into()));
    assert_eq!(tools[3], "memory_write");
    let table = memory(&world, &["log"]);
    for part in
        ["claude-code · 6f0c5b1e", "outside Tome", "person", "changed  +2 −1", "memory_write"]
    {
        assert!(table.contains(part), "{part} in {table}");
    }
    let short = memory(&world, &["log", "-n", "1"]);
    assert!(short.contains("deleted") && short.contains("3 older"), "{short}");
    assert_eq!(memory_json(&world, &["log", "-n", "0"]).len(), 4);
}

#[test]
fn an_old_version_can_be_printed() {
    let world = world();
    for text in ["one\n", "two\n"] {
        memory(&world, &["write", "a.md", "--content", text]);
    }
    let versions = versions(&world);
    assert_eq!(memory(&world, &["show", "a.md"]), "two\n");
    assert_eq!(memory(&world, &["show", "a.md", &versions[1]]), "one\n");
    assert_eq!(memory(&world, &["show", "a.md", &versions[1][..6]]), "one\n");
    assert_eq!(memory_json(&world, &["show", "a.md", &versions[1]])[0]["content"], "one\n");
    check_refused(&world, &["show", "a.md", "ffffffffffff"], 4, &["ffffffffffff"]);
    memory(&world, &["delete", "a.md"]);
    let ran = world.tome(&["memory", "show", "a.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "two\n"));
    assert!(ran.stderr.contains("was deleted"), "{}", ran.stderr);
}

#[test]
fn a_diff_shows_changes_line_by_line() {
    let world = world();
    for text in ["one\ntwo\n", "one\n2\n", "one\n2\nthree\n"] {
        memory(&world, &["write", "a.md", "--content", text]);
    }
    let versions = versions(&world);
    let diff = memory(&world, &["diff", "a.md"]);
    assert!(diff.contains("\n+three\n") && !diff.contains("-two"), "{diff}");
    assert!(
        diff.starts_with(&format!("--- a.md {}\n+++ a.md {}\n", versions[1], versions[0])),
        "{diff}"
    );
    let from = memory(&world, &["diff", "a.md", &versions[2]]);
    assert!(from.contains("-two\n+2\n+three\n"), "{from}");
    let between = memory(&world, &["diff", "a.md", &versions[1], &versions[2]]);
    assert!(between.contains("-2\n+two\n"), "{between}");
    let same = world.tome(&["memory", "diff", "a.md", &versions[0]]);
    assert_eq!((same.code, same.stdout.as_str()), (0, ""));
    assert!(same.stderr.contains("is identical in versions"), "{}", same.stderr);
    let coloured = world.tome(&["--color", "always", "memory", "diff", "a.md"]).stdout;
    assert!(coloured.contains("\u{1b}[32m+three"), "{coloured:?}");
    memory(&world, &["delete", "a.md"]);
    let gone = memory(&world, &["diff", "a.md"]);
    assert!(gone.contains("+++ nothing") && gone.contains("-three"), "{gone}");
    let gone = memory(&world, &["diff", "a.md", &versions[2]]);
    assert!(gone.contains("-two") && !gone.contains("\n+t"), "{gone}");
}

#[test]
fn the_first_version_is_shown_as_new() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one\n"]);
    let diff = memory(&world, &["diff", "a.md"]);
    assert!(diff.starts_with("--- nothing\n") && diff.contains("\n+one\n"), "{diff}");
}

#[test]
fn any_version_can_be_restored() {
    let world = world();
    for text in ["one\n", "two\n", "three\n"] {
        memory(&world, &["write", "a.md", "--content", text]);
    }
    let versions = versions(&world);
    let output = memory(&world, &["restore", "a.md"]);
    assert_eq!(memory(&world, &["read", "a.md"]), "two\n");
    let undo = format!("tome memory restore a.md {}", versions[0]);
    assert!(output.contains(&undo), "{output}");
    memory(&world, &["restore", "a.md", &versions[0]]);
    assert_eq!(memory(&world, &["read", "a.md"]), "three\n");
    memory(&world, &["restore", "a.md", &versions[2][..6]]);
    assert_eq!(memory(&world, &["read", "a.md"]), "one\n");
    let last = &memory_json(&world, &["log"])[0];
    assert_eq!(
        (last["who"].as_str(), last["tool"].as_str()),
        (Some("person"), Some("tome memory restore"))
    );
    memory(&world, &["delete", "a.md"]);
    let output = memory(&world, &["restore", "a.md"]);
    assert!(output.contains("undo: tome memory delete a.md"), "{output}");
    assert_eq!(memory(&world, &["read", "a.md"]), "one\n");
    check_refused(&world, &["restore", "a.md", "ffffffffffff"], 4, &["ffffffffffff"]);
}

/// A manual edit is served and recorded without a command in between; the replaced version can be
/// restored.
#[test]
fn a_manual_edit_is_a_version() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one\n"]);
    let file = file(&world, "a.md");
    std::fs::write(&file, "by hand\n").unwrap();
    assert_eq!(memory(&world, &["read", "a.md"]), "by hand\n");
    memory(&world, &["write", "a.md", "--content", "three\n"]);
    let versions = versions(&world);
    assert_eq!(versions.len(), 3);
    assert_eq!(memory(&world, &["show", "a.md", &versions[1]]), "by hand\n");
    std::fs::remove_file(&file).unwrap();
    check_refused(&world, &["read", "a.md"], 4, &["a.md", "tome memory restore a.md"]);
    memory(&world, &["restore", "a.md"]);
    assert_eq!(memory(&world, &["read", "a.md"]), "three\n");
}
