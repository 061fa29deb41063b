//! `tome memory` and `tome init`: reading and changing notes, and the exit codes of errors.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::world;

/// Runs `tome memory …`, which must succeed silently; returns its output.
pub fn memory(world: &World, args: &[&str]) -> String {
    let ran = world.tome(&[&["memory"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome memory {args:?}");
    ran.stdout
}

/// The same with JSON lines.
pub fn memory_json(world: &World, args: &[&str]) -> Vec<Value> {
    let text = memory(world, &[args, &["--json"]].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that `tome memory …` fails with this code and all these words on standard error.
pub fn check_refused(world: &World, args: &[&str], code: i32, words: &[&str]) -> CommandResult {
    let ran = world.tome(&[&["memory"], args].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}: {}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error: Error:"), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
    }
    ran
}

#[test]
fn an_empty_notebook_explains_how_to_begin() {
    let world = world();
    let output = memory(&world, &["list"]);
    assert!(output.contains("no notes yet") && output.contains("tome memory append"), "{output}");
    assert_eq!(memory(&world, &["list", "--json"]), "");
    assert!(memory(&world, &["list", "--scope", "coder"]).contains("tome coder store"));
    memory(&world, &["view"]);
    let ran = world.tome(&["memory", "log"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let projects = world.home().join("projects");
    let made = std::fs::read_dir(projects).unwrap().count();
    assert_eq!(made, 0, "looking makes nothing");
}

#[test]
fn the_suggested_first_command_works() {
    let world = world();
    let output = memory(&world, &["list"]);
    let command = output.split('`').nth(1).unwrap();
    let mut shell = std::process::Command::new("sh");
    let line = command.replacen("tome", "\"$TOME\"", 1);
    shell.arg("-c").arg(line).env("TOME", world.program()).env("TOME_HOME", world.home());
    let ran = World::run(shell.current_dir(world.folder("elsewhere")), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
    assert_eq!(memory_json(&world, &["list"]).len(), 1);
}

#[test]
fn a_note_can_be_written_changed_moved_and_deleted() {
    let world = world();
    let typed = ["--name", "Auth", "--description", "How login works", "--type", "project"];
    let write = [&["write", "auth.md", "--content", "We use sessions."], &typed[..]].concat();
    assert!(memory(&world, &write).starts_with("saved auth.md"));
    memory(&world, &["append", "facts/build.md", "--entry", "- tests need a database"]);
    memory(
        &world,
        &["append", "facts/build.md", "--entry", "- use nextest", "--summary", "building"],
    );
    let text = memory(&world, &["read", "auth.md"]);
    assert!(text.contains("name: Auth") && text.contains("We use sessions."), "{text}");

    let listed = memory_json(&world, &["list"]);
    let paths: Vec<&Value> = listed.iter().map(|note| &note["path"]).collect();
    assert_eq!(paths, ["auth.md", "facts/build.md"]);
    assert_eq!(listed[0]["type"], "project");
    assert_eq!(listed[0]["summary"], "How login works");
    assert_eq!(listed[1]["summary"], "building");
    let table = memory(&world, &["list"]);
    for part in ["Project", "Facts", "auth.md", "How login works", "2 notes"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    let index = memory(&world, &["view"]);
    assert!(index.contains("- [Auth](auth.md) - How login works"), "{index}");
    let files = memory(&world, &["view", "--files"]);
    assert!(files.contains("auth.md") && files != index, "{files}");

    memory(&world, &["patch", "auth.md", "--old", "sessions", "--new", "tokens"]);
    memory(&world, &["update", "auth.md", "--old", "We use", "--new", "They use"]);
    assert!(memory(&world, &["read", "auth.md"]).contains("They use tokens."));
    let output = memory(&world, &["delete", "auth.md", "facts/build.md"]);
    assert!(output.contains("tome memory restore auth.md"), "{output}");
    assert!(memory(&world, &["list"]).contains("no notes yet"));
}

#[test]
fn reading_prints_the_note_and_nothing_else() {
    let world = world();
    let text = "# Café\n\n\u{1b}[31mred\u{1b}[0m\ttab, no newline at the end";
    let ran = world.tome_with(&["memory", "write", "raw.md"], text);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(memory(&world, &["read", "raw.md"]), text);
    let note = &memory_json(&world, &["read", "raw.md"])[0];
    assert_eq!(note["content"], text);
    assert_eq!((&note["path"], note["version"].as_str().unwrap().len()), (&json!("raw.md"), 12));
}

/// Tools truncate at 50,000 characters, but a person gets the full note.
#[test]
fn a_long_note_is_printed_in_full() {
    let world = world();
    let text = "ä long line of a long note\n".repeat(4_000);
    let file = world.write("long.md", &text);
    memory(&world, &["write", "long.md", "--file", file.to_str().unwrap()]);
    assert_eq!(memory(&world, &["read", "long.md"]), text);
}

#[test]
fn content_comes_from_a_file_a_pipe_or_an_argument() {
    let world = world();
    let file = world.write("elsewhere/draft.txt", "from a file\n");
    memory(&world, &["write", "a.md", "--file", file.to_str().unwrap()]);
    assert_eq!(memory(&world, &["read", "a.md"]), "from a file\n");
    memory(&world, &["write", "a.md", "--content", "- typed, with a dash"]);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "- typed, with a dash");
    let ran = world.tome_with(&["memory", "append", "facts/a.md"], "- piped\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(memory(&world, &["read", "facts/a.md"]).contains("- piped"));
    check_refused(&world, &["write", "a.md"], 2, &["empty", "--content"]);
    check_refused(&world, &["write", "a.md", "--file", "/no/such"], 1, &["/no/such"]);
    let ran = world.tome_with(&["memory", "write", "a.md"], b"\xff\xfe");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("UTF-8"), "{}", ran.stderr);
}

#[test]
fn patches_are_applied_all_or_none() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one two three"]);
    let pairs = ["--old", "one", "--new", "-1", "--old", "three", "--new", "$3"];
    memory(&world, &[&["patch", "a.md"], &pairs[..]].concat());
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "-1 two $3");
    let pairs = ["--old", "two", "--new", "2", "--old", "four", "--new", "4"];
    check_refused(&world, &[&["patch", "a.md"], &pairs[..]].concat(), 4, &["a.md"]);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "-1 two $3");
    let patches = r#"[{"oldText": "two", "newText": "2"}]"#;
    memory(&world, &["patch", "a.md", "--patches", patches]);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "-1 2 $3");
}

#[test]
fn errors_have_messages_and_exit_codes() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "same same"]);
    let before = memory_json(&world, &["log"]).len();
    for path in ["nothing.md", "facts/nothing.md"] {
        check_refused(&world, &["read", path], 4, &[path, "tome memory list"]);
        check_refused(&world, &["delete", path], 4, &[path]);
        check_refused(&world, &["update", path, "--old", "a", "--new", "b"], 4, &[path]);
        check_refused(&world, &["restore", path], 4, &[path]);
        check_refused(&world, &["show", path], 4, &[path]);
        check_refused(&world, &["diff", path], 4, &[path]);
        check_refused(&world, &["log", path], 4, &[path]);
    }
    for path in ["../out.md", "/etc/out.md", "a/../../b.md", "note.txt", ".hidden.md", "MEMORY.md"]
    {
        check_refused(&world, &["write", path, "--content", "x"], 2, &[]);
        check_refused(&world, &["append", path, "--entry", "x"], 2, &[]);
        check_refused(&world, &["delete", path], 2, &[]);
    }
    for path in ["../out.md", "/etc/passwd", "a/../../b.md"] {
        check_refused(&world, &["read", path], 2, &[]);
        check_refused(&world, &["show", path], 2, &[]);
    }
    check_refused(
        &world,
        &["patch", "a.md", "--old", "same", "--new", "x"],
        2,
        &["multiple times"],
    );
    check_refused(&world, &["patch", "a.md", "--old", "gone", "--new", "x"], 4, &["not found"]);
    check_refused(&world, &["patch", "a.md", "--old", "a"], 2, &["--new"]);
    check_refused(&world, &["patch", "a.md"], 2, &["--old"]);
    check_refused(&world, &["patch", "a.md", "--patches", "[{"], 2, &["JSON", "oldText"]);
    let odd = ["--name", "n", "--description", "d", "--type", "odd"];
    let write = [&["write", "b.md", "--content", "x"], &odd[..]].concat();
    check_refused(&world, &write, 2, &["odd", "feedback"]);
    check_refused(&world, &["list", "--scope", "session"], 2, &["--session"]);
    let late = ["write", "a.md", "--content", "x", "--if-version", "000000000000"];
    check_refused(&world, &late, 1, &["a.md", "read it again"]);
    check_refused(&world, &["write", "a.md", "--content", "x", "--if-version", ""], 1, &["a.md"]);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "same same");
    assert_eq!(memory_json(&world, &["log"]).len(), before, "nothing was changed");
    assert_eq!(world.tome(&["memory"]).code, 2);
    assert_eq!(world.tome(&["memory", "list", "--scope", "world"]).code, 2);
}

#[test]
fn a_failed_deletion_does_not_stop_the_others() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "a"]);
    memory(&world, &["write", "b.md", "--content", "b"]);
    let ran = world.tome(&["memory", "delete", "a.md", "none.md", "../b.md", "b.md"]);
    assert_eq!(ran.code, 2, "the last failure's");
    assert_eq!(ran.stderr.matches("error: ").count(), 2, "{}", ran.stderr);
    assert!(memory(&world, &["list"]).contains("no notes yet"));
}

#[test]
fn a_write_checks_the_version_that_was_read() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one", "--if-version", ""]);
    let version = memory_json(&world, &["read", "a.md"])[0]["version"].as_str().unwrap().to_owned();
    memory(&world, &["write", "a.md", "--content", "two", "--if-version", &version]);
    check_refused(&world, &["write", "a.md", "--content", "3", "--if-version", &version], 1, &[]);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "two");
}

#[test]
fn secrets_are_redacted_and_reported() {
    let world = world();
    let secret = "AKIAIOSFODNN7EXAMPLE";
    let entry = format!("- the key is {secret}");
    let ran = world.tome(&["memory", "append", "facts/keys.md", "--entry", &entry]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("secrets were redacted in 1 text"), "{}", ran.stderr);
    assert!(!memory(&world, &["read", "facts/keys.md"]).contains(secret));
}

#[test]
fn each_scope_has_its_own_notes() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "the project's"]);
    let session = ["--session", "s1"];
    memory(
        &world,
        &[&["append", "detail/a.md", "--entry", "the session's"], &session[..]].concat(),
    );
    let listed = memory_json(&world, &[&["list"], &session[..]].concat());
    assert!(listed.iter().any(|note| note["path"] == "detail/a.md"), "{listed:?}");
    let scope = ["--scope", "session", "--session", "s1"];
    assert_eq!(memory_json(&world, &[&["list"], &scope[..]].concat()), listed);
    assert!(memory(&world, &["list", "--session", "s2"]).contains("no notes yet"));
    check_refused(&world, &["read", "a.md", "--session", "s1"], 4, &["list --session s1"]);
    let elsewhere = world.folder("another");
    let there = ["list", "--project", elsewhere.to_str().unwrap()];
    let output = memory(&world, &there);
    let hint = format!("append facts/project.md --project {}", elsewhere.display());
    assert!(output.contains("no notes yet") && output.contains(&hint), "{output}");
}

#[test]
fn notes_can_be_located_and_moved_into_the_repository() {
    let world = world();
    world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    let repo = world.folder("repo");
    let at = ["--project", repo.to_str().unwrap()];
    let tome = |args: &[&str]| {
        let ran = world.tome(&[args, &at[..]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome {args:?}");
        ran
    };
    let output = tome(&["init"]).stdout;
    assert!(output.contains("in Tome's home") && output.contains("--in-repo"), "{output}");
    let found = tome(&["init", "--json"]).json();
    assert_eq!((&found["exists"], &found["in_repository"]), (&json!(false), &json!(false)));
    tome(&["memory", "write", "a.md", "--content", "a"]);
    tome(&["memory", "append", "facts/b.md", "--entry", "- b"]);
    let moved = tome(&["init", "--in-repo"]).stdout;
    for part in ["moved a.md", "moved facts/b.md", "git -C", "add .memory"] {
        assert!(moved.contains(part), "{part} in {moved}");
    }
    assert_eq!(std::fs::read_to_string(repo.join(".memory/a.md")).unwrap().trim_end(), "a");
    let found = tome(&["init", "--json"]).json();
    assert_eq!((&found["notes"], &found["in_repository"]), (&json!(2), &json!(true)));
    let again = tome(&["init", "--in-repo"]).stdout;
    assert!(again.contains("already existed") && !again.contains("moved"), "{again}");
    assert_eq!(tome(&["memory", "read", "a.md"]).stdout.trim_end(), "a");
}

#[test]
fn the_doctor_reports_unused_notes() {
    let world = world();
    world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    let repo = world.folder("repo");
    let notes = || {
        let mut doctor = world.command(&["doctor", "--json"]);
        let report = World::run(doctor.current_dir(&repo), b"").json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["what"] == "notes").unwrap()
    };
    assert!(notes()["found"].as_str().unwrap().starts_with("none yet"), "{}", notes());
    let at = ["--project", repo.to_str().unwrap()];
    memory(&world, &[&["write", "a.md", "--content", "a"], &at[..]].concat());
    assert!(notes()["found"].as_str().unwrap().starts_with("1 note in "), "{}", notes());
    std::fs::create_dir(repo.join(".memory")).unwrap();
    let found = notes();
    assert_eq!(found["verdict"], "warning");
    assert!(found["advice"].as_str().unwrap().contains("tome init --in-repo"), "{found}");
    assert_eq!(world.tome(&[&["init", "--in-repo"], &at[..]].concat()).code, 0);
    assert_eq!(notes()["verdict"], "good");
}

#[test]
fn the_facts_have_a_budget_and_may_have_fixed_names() {
    let world = world();
    let config = "[notes]\nfacts_max_bytes = 400\nfacts_allowed = \"user.md, memory.md\"\n";
    std::fs::write(world.config_file(), config).unwrap();
    memory(&world, &["append", "facts/user.md", "--entry", "- likes tests"]);
    let other = ["append", "facts/other.md", "--entry", "- x"];
    check_refused(&world, &other, 2, &["other.md", "user.md, memory.md"]);
    let much = "word ".repeat(100);
    check_refused(&world, &["append", "facts/user.md", "--entry", &much], 2, &["limit"]);
    assert!(!memory(&world, &["read", "facts/user.md"]).contains("word"));
    for bad in
        ["notes.facts_max_bytes=0", "notes.facts_max_bytes=much", "notes.facts_allowed=a/b.md"]
    {
        let ran = world.tome(&["--set", bad, "memory", "list"]);
        assert_eq!(ran.code, 2, "{bad}");
        assert!(ran.stderr.contains(bad.split('=').next().unwrap()), "{}", ran.stderr);
    }
}
