//! `tome projects`: names, moves and merges that follow events, notes, contents and recall.

use std::path::Path;

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, daemon_gone, ids, line_with, list, world};

fn projects(world: &World) -> Vec<Value> {
    let ran = world.tome(&["projects", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.json_lines()
}

fn ingest(world: &World, id: &str, cwd: &Path, text: &str, after_ms: u64) {
    world.ingest(&line_with(&json!({
        "id": id, "cwd": cwd, "text": text, "at": MORNING_MS + after_ms,
        "session_id": format!("session-{id}"),
    })));
}

fn note(world: &World, cwd: &Path, entry: &str) {
    let arguments = json!({"path": "facts/project.md", "entry": entry}).to_string();
    let mut command = world.command(&["tool", "memory_append", &arguments, "--agent", "codex"]);
    assert_eq!(World::run(command.current_dir(cwd), b"").code, 0);
}

fn tome_in(world: &World, cwd: &Path, args: &[&str]) -> CommandResult {
    World::run(world.command(args).current_dir(cwd), b"")
}

#[test]
fn a_renamed_and_moved_project_keeps_everything() {
    let world = world();
    let (old, site) = (world.folder("work/app"), world.folder("site"));
    ingest(&world, "e1", &old, "the parser drops trailing commas", 0);
    ingest(&world, "e2", &site, "colours of the site", 10);
    note(&world, &old, "- Parser: hand-written");
    let names =
        |world: &World| projects(world).iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&world), ["site", "app"], "the last used first");
    let ran = world.tome(&["projects", "rename", "app", "backend"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "app is now called backend\n"));
    assert_eq!(ids(&list(&world, &["--project", "backend"])), ["e1"]);
    let ran = world.tome(&["projects", "rename", "site", "backend"]);
    assert_eq!(ran.code, 2, "{ran:?}");

    let new = world.path().canonicalize().unwrap().join("new-place");
    std::fs::rename(&old, &new).unwrap();
    let ran = world.tome(&["projects", "mv", old.to_str().unwrap(), new.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ingest(&world, "e3", &new, "the parser handles comments now", 20);
    for _ in 0..2 {
        assert_eq!(ids(&list(&world, &["--project", new.to_str().unwrap()])), ["e1", "e3"]);
        assert_eq!(ids(&list(&world, &["--project", "backend"])), ["e1", "e3"]);
        let read = tome_in(&world, &new, &["memory", "read", "facts/project.md"]);
        assert!(read.stdout.contains("hand-written"), "{read:?}");
        let found = tome_in(&world, &new, &["recall", "trailing commas", "--json"]);
        assert!(found.stdout.contains("drops trailing commas"), "{found:?}");
        // The same after a restart: it is in the project's record.
        world.tome(&["stop"]);
    }
    let moved = projects(&world).into_iter().find(|one| one["name"] == "backend").unwrap();
    assert_eq!(moved["folder"], new.to_str().unwrap());
    assert_eq!(world.tome(&["projects", "mv", "backend", "/no/such/folder"]).code, 4);
}

#[test]
fn clones_are_merged_and_nothing_is_lost() {
    let world = world();
    let mut clones = Vec::new();
    for name in ["one", "two"] {
        let root = world.folder(name);
        world.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        world.write(
            &format!("{name}/.git/config"),
            "[remote \"origin\"]\n\turl = git@example.com:dev/app.git\n",
        );
        clones.push(root);
    }
    let (one, two) = (&clones[0], &clones[1]);
    for n in 0..3 {
        ingest(&world, &format!("one-{n}"), one, "work in the first clone", n * 2);
        ingest(&world, &format!("two-{n}"), two, "work in the second clone", n * 2 + 1);
    }
    note(&world, one, "- Said in one");
    note(&world, two, "- Said in two");
    let shown = world.tome(&["projects"]).stdout;
    assert!(shown.contains("clones of one repository"), "{shown}");
    let ran = world.tome(&["projects", "rm", "two"]);
    assert_eq!(ran.code, 2, "data is never removed");
    assert!(ran.stderr.contains("tome projects merge two"), "{}", ran.stderr);

    let merged = world.tome(&["projects", "merge", "two", "one", "--json"]);
    assert_eq!(merged.code, 0, "{merged:?}");
    assert_eq!(merged.json()["events"], 3);
    daemon_gone(&world);
    let all = ["one-0", "two-0", "one-1", "two-1", "one-2", "two-2"];
    assert_eq!(ids(&list(&world, &["--project", "one"])), all);
    assert_eq!(ids(&world.events()), all, "each exists once in the home");
    assert_eq!(ids(&list(&world, &["--project", two.to_str().unwrap()])), all);
    let notes = tome_in(&world, two, &["memory", "list", "--json"]).stdout;
    assert!(notes.contains("facts/project.md") && notes.contains("restored"), "{notes}");
    ingest(&world, "two-3", two, "the clone is still used", 100);
    assert_eq!(projects(&world).len(), 1);
    assert_eq!(projects(&world)[0]["events"], 7);
    let kept = merged.json()["kept"].as_str().unwrap().to_owned();
    assert!(Path::new(&kept).join("ledger").is_dir(), "the former store is kept");
    let sessions = world.tome(&["sessions", "--project", "one", "--json"]).json_lines();
    assert_eq!(sessions.len(), 7, "{sessions:?}");
}

#[test]
fn only_empty_projects_are_removed_and_errors_are_json() {
    let world = world();
    ingest(&world, "e1", &world.folder("app"), "words", 0);
    for args in [&["projects", "rm", "app"][..], &["projects", "rename", "app", "a/b"]] {
        let ran = world.tome(&[args, &["--json"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["exit_code"], 2, "{error}");
    }
    let unknown = world.tome(&["projects", "rm", "nothing", "--json"]);
    let error: Value = serde_json::from_str(&unknown.stderr).unwrap();
    assert_eq!((unknown.code, &error["exit_code"]), (4, &json!(4)));
    let usage = world.tome(&["--json", "projects", "frobnicate"]);
    let error: Value = serde_json::from_str(&usage.stderr).unwrap();
    assert_eq!((usage.code, error["error"].is_string()), (2, true), "{usage:?}");
}

#[test]
fn a_project_whose_notes_were_deleted_can_be_removed() {
    let world = world();
    let folder = world.folder("empty");
    note(&world, &folder, "- Parser: hand-written");
    let refused = world.tome(&["projects", "rm", "empty"]);
    assert!(refused.code == 2 && refused.stderr.contains("empty holds notes"), "{refused:?}");
    let ran = tome_in(&world, &folder, &["memory", "delete", "facts/project.md"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let removed = world.tome(&["projects", "rm", "empty"]);
    assert_eq!((removed.code, removed.stderr.as_str()), (0, ""), "{removed:?}");
    assert!(removed.stdout.contains("is kept in "), "{removed:?}");
    assert_eq!(projects(&world).len(), 0);
    let kept = std::fs::read_dir(world.home().join("merged")).unwrap();
    let history = kept.flatten().next().unwrap().path().join("memory/.history/history.jsonl");
    assert!(std::fs::read_to_string(history).unwrap().contains("hand-written"));
    let taken = world.folder("taken");
    ingest(&world, "e1", &taken, "words", 0);
    ingest(&world, "e2", &world.folder("other"), "words", 1);
    let ran = world.tome(&["projects", "rename", "other", "taken"]);
    let refusal = format!("error: \"taken\" is already the name of {}\n", taken.display());
    assert_eq!((ran.code, ran.stderr.as_str()), (2, refusal.as_str()));
}

/// In a repository, a mistyped name must not stand for the repository's own project.
#[test]
fn a_mistyped_project_is_refused_by_every_command() {
    let world = world();
    let backend = world.folder("src/backend");
    world.write("src/backend/.git/HEAD", "ref: refs/heads/main\n");
    ingest(&world, "e1", &backend, "the parser drops trailing commas", 0);
    note(&world, &backend, "- Parser: hand-written");
    let before = projects(&world);
    let mut commands: Vec<Vec<&str>> = [
        "sessions",
        "toc",
        "events",
        "topics",
        "report",
        "instructions",
        "injections",
        "resume",
        "init",
        "reflect",
    ]
    .iter()
    .map(|name| vec![*name])
    .collect();
    commands.extend([
        vec!["recall", "commas"],
        vec!["show", "e1"],
        vec!["read", "session-e1"],
        vec!["export"],
        vec!["injections", "--preview"],
        vec!["memory", "list"],
        vec!["memory", "log", "--scope", "coder"],
        vec!["memory", "append", "facts/project.md", "--entry", "- typed in vain"],
        vec!["tool", "memory_list", "{}"],
        vec!["admin", "rebuild-toc"],
        vec![],
    ]);
    for command in commands {
        let ran = tome_in(&world, &backend, &[&command[..], &["--project", "bakend"]].concat());
        let refusal =
            "error: no project bakend\nhint: did you mean backend? `tome projects` lists all\n";
        assert_eq!(
            (ran.code, ran.stderr.as_str(), ran.stdout.as_str()),
            (4, refusal, ""),
            "{command:?}"
        );
    }
    for change in [&["rename", "bakend", "x"][..], &["rm", "bakend"], &["mv", "bakend", "/srv"]] {
        let ran = tome_in(&world, &backend, &[&["projects"], change].concat());
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.stderr.contains("did you mean backend?"), "{ran:?}");
    }
    let mut after = projects(&world);
    for project in &mut after {
        project["disk_bytes"] = before[0]["disk_bytes"].clone();
    }
    assert_eq!(after, before);
    let notes = tome_in(&world, &backend, &["memory", "read", "facts/project.md"]).stdout;
    assert!(notes.contains("hand-written") && !notes.contains("in vain"), "{notes}");
    let below = backend.join("src");
    std::fs::create_dir(&below).unwrap();
    for project in ["backend", ".", "src", "./src", below.to_str().unwrap()] {
        let ran = tome_in(&world, &backend, &["events", "--json", "--project", project]);
        assert_eq!(ids(&ran.json_lines()), ["e1"], "{project}");
    }
}
