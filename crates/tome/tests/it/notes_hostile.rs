//! Hostile input: paths that lead outside, special files, senseless arguments, hostile frontmatter.
//! Each is rejected with a message and a code, and nothing changes; files outside the notebook are
//! compared byte for byte.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::World;

use crate::acceptance::{agent, file, notebook, refused, run_tool, wire, wire_all};
use crate::notes_cli::memory;
use crate::notes_safety::{check_whole, files_below};
use crate::support::{daemon_up, world};

/// All files in the world except the daemon's runtime files and temporary files of its programs.
fn everything(world: &World) -> BTreeMap<PathBuf, String> {
    let own = [world.home().join("run"), world.folder("tmp"), world.folder("runtime")];
    let mut files = files_below(world.path());
    files.retain(|path, _| !own.iter().any(|own| path.starts_with(own)));
    files
}

/// A world with notes, surrounded by files that must not be touched.
fn besieged() -> World {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "alpha beta beta\n"}));
    agent(&world, "memory_append", &json!({"path": "facts/f.md", "entry": "- k: v"}));
    for outside in ["outside.md", "elsewhere/outside.md", "person/outside.md", "secrets/s.md"] {
        world.write(outside, "secret words\n");
    }
    let project = notebook(&world).parent().unwrap().to_path_buf();
    std::fs::write(project.join("outside.md"), "secret words\n").unwrap();
    daemon_up(&world);
    world
}

/// Every call that takes a path, with this path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let below = format!("/memories/{path}");
    let mut calls = vec![
        ("memory_read", json!({"path": path})),
        ("memory_read", json!({"filename": path})),
        ("memory_write", json!({"path": path, "content": "taken"})),
        (
            "memory_write",
            json!({"filename": path, "name": "n", "description": "d", "memory_type": "user",
                   "content": "taken"}),
        ),
        ("memory_append", json!({"path": path, "entry": "taken"})),
        ("memory_patch", json!({"path": path, "old_str": "secret", "new_str": "taken"})),
        ("memory_update", json!({"filename": path, "old_text": "secret", "new_text": "taken"})),
        ("memory_delete", json!({"filename": path})),
        ("memory", json!({"command": "create", "path": below, "file_text": "taken"})),
        (
            "memory",
            json!({"command": "str_replace", "path": below, "old_str": "secret", "new_str": "x"}),
        ),
        (
            "memory",
            json!({"command": "insert", "path": below, "insert_line": 0, "insert_text": "taken"}),
        ),
        ("memory", json!({"command": "view", "path": below})),
        ("memory", json!({"command": "delete", "path": below})),
        ("memory", json!({"command": "rename", "old_path": below, "new_path": "/memories/n.md"})),
        ("memory", json!({"command": "rename", "old_path": "/memories/a.md", "new_path": below})),
    ];
    // The memory tool reads `/memories//x` and `/memories/./x` as `/memories/x`.
    let is_plain = path.split('/').all(|part| !matches!(part, "" | "."));
    calls.retain(|(tool, _)| is_plain || *tool != "memory");
    for scope in ["session", "coder"] {
        calls.push(("memory_write", json!({"path": path, "content": "taken", "scope": scope})));
        calls.push(("memory_read", json!({"path": path, "scope": scope})));
        calls.push(("memory_delete", json!({"path": path, "scope": scope})));
    }
    calls
}

/// Checks that every tool rejects a path without disclosing its target, and that nothing changes.
fn check_path(world: &World, path: &str) {
    let before = everything(world);
    for ((tool, arguments), answer) in wire_all(world, calls(path)) {
        assert!(answer.is_error, "{tool} {arguments}: {answer:?}");
        assert!(!answer.text.contains("secret words"), "{tool} {arguments}: {answer:?}");
        assert!(!answer.text.is_empty() && answer.text.len() < 2_000, "{}", answer.text.len());
        assert_ne!(answer.error_kind, "", "{tool} {arguments}");
    }
    assert_eq!(everything(world), before, "{path:?}");
}

#[test]
fn the_command_line_rejects_them_too() {
    let world = besieged();
    let before = everything(&world);
    let outside = world.path().join("outside.md");
    for path in
        ["../outside.md", outside.to_str().unwrap(), "con.md", ".hidden.md", "x.txt", "a\nb.md"]
    {
        for args in [
            &["memory", "read", path][..],
            &["memory", "write", path, "--content", "taken"],
            &["memory", "append", path, "--entry", "taken"],
            &["memory", "patch", path, "--old", "secret", "--new", "taken"],
            &["memory", "update", path, "--old", "secret", "--new", "taken"],
            &["memory", "delete", path],
            &["memory", "restore", path],
            &["memory", "show", path],
            &["memory", "diff", path],
            &["memory", "log", path],
            &["memory", "edit", path],
            &["coder", "read", path],
        ] {
            let mut command = world.command(args);
            let ran = World::run(command.env("EDITOR", "touch"), b"");
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.starts_with("error: "), "{args:?}: {}", ran.stderr);
        }
    }
    assert_eq!(everything(&world), before);
    // A session may have any name; its folder is among those of the sessions.
    for session in ["../../x", "/etc", "..", ".", "a/b", "con", "a\nb"] {
        let args = ["memory", "write", "overview.md", "--content", "taken", "--session", session];
        let _ = world.tome(&args);
        let sessions = notebook(&world).with_file_name("sessions");
        let mut after = everything(&world);
        after.retain(|path, _| !path.starts_with(&sessions));
        assert_eq!(after, before, "{session:?}");
    }
}

/// Links out of the notebook to files, folders and nothing; a pipe, a folder named like a note, a
/// hard link to a file outside.
#[test]
fn special_files_are_rejected() {
    let world = besieged();
    let folder = notebook(&world);
    let outside = world.path().join("secrets");
    symlink(outside.join("s.md"), folder.join("link.md")).unwrap();
    symlink("../outside.md", folder.join("near.md")).unwrap();
    symlink(&outside, folder.join("linked")).unwrap();
    symlink(outside.join("not-yet.md"), folder.join("dangling.md")).unwrap();
    symlink("a.md", folder.join("inside.md")).unwrap();
    symlink("loop.md", folder.join("loop.md")).unwrap();
    std::fs::create_dir(folder.join("folder.md")).unwrap();
    let made = Command::new("mkfifo").arg(folder.join("pipe.md")).status().unwrap();
    assert!(made.success());
    for path in [
        "link.md",
        "near.md",
        "linked/s.md",
        "linked/new.md",
        "dangling.md",
        "inside.md",
        "loop.md",
        "pipe.md",
        "folder.md",
        "a.md/x.md",
    ] {
        check_path(&world, path);
    }
    let folder_of = |path: &str| json!({"command": "delete", "path": format!("/memories/{path}")});
    for path in ["linked", "folder.md"] {
        let before = everything(&world);
        assert!(wire(&world, "memory", &folder_of(path)).is_error);
        assert_eq!(everything(&world), before);
    }
    // They do not affect other notes.
    let index = agent(&world, "memory_view", &json!({}));
    assert!(index.contains("(a.md)") && !index.contains("link"), "{index}");
    agent(&world, "memory_append", &json!({"path": "a.md", "entry": "more"}));

    // The first write breaks a hard link; the file outside stays.
    std::fs::hard_link(outside.join("s.md"), folder.join("hard.md")).unwrap();
    agent(&world, "memory_append", &json!({"path": "hard.md", "entry": "more"}));
    assert!(file(&world, "hard.md").contains("more"));
    assert_eq!(std::fs::read_to_string(outside.join("s.md")).unwrap(), "secret words\n");
}

/// An index that is a link is never followed but replaced.
#[test]
fn an_index_that_is_a_link_is_replaced() {
    let world = besieged();
    let (folder, target) = (notebook(&world), world.path().join("secrets/s.md"));
    std::fs::remove_file(folder.join("MEMORY.md")).unwrap();
    symlink(&target, folder.join("MEMORY.md")).unwrap();
    let index = agent(&world, "memory_view", &json!({}));
    assert!(index.contains("(a.md)") && !index.contains("secret"), "{index}");
    let answer = wire(&world, "memory_read", &json!({"path": "MEMORY.md"}));
    assert!(!answer.text.contains("secret words"), "{answer:?}");
    agent(&world, "memory_append", &json!({"path": "a.md", "entry": "more"}));
    assert_eq!(std::fs::read_to_string(target).unwrap(), "secret words\n");
    assert!(!folder.join("MEMORY.md").is_symlink(), "the link is replaced");
    check_whole(&world);
}

#[test]
fn senseless_arguments_are_rejected() {
    let world = besieged();
    let before = everything(&world);
    for (tool, arguments, words) in [
        ("memory_read", "", "path"),
        ("memory_read", "nonsense", "JSON"),
        ("memory_read", "[\"a.md\"]", "object"),
    ] {
        let ran = world.tome_with(&["tool", tool, "-"], arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments}: {words} in {}", ran.stderr);
    }
    let unknown = refused(&world, "memory_dream", &json!({}), 4);
    assert!(unknown.contains("memory_dream") && unknown.contains("memory_read"), "{unknown}");
    let ran = world.tome_with(&["tool", "memory_read", "-"], b"{\"path\": \"\xff\"}");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let gone = json!({"path": "a.md", "old_str": "nowhere", "new_str": "x"});
    refused(&world, "memory_patch", &gone, 4);
    assert_eq!(everything(&world), before);
}

/// A file that is not text or far too large is listed, never overwritten, and does not affect the
/// others.
#[test]
fn an_unreadable_file_is_listed_and_never_overwritten() {
    let world = besieged();
    let folder = notebook(&world);
    std::fs::write(folder.join("latin.md"), b"caf\xe9\n").unwrap();
    let huge = std::fs::File::create(folder.join("huge.md")).unwrap();
    huge.set_len(60 << 20).unwrap();
    let index = agent(&world, "memory_view", &json!({}));
    for name in ["(a.md)", "(latin.md)", "(huge.md)"] {
        assert!(index.contains(name), "{name} in {index}");
    }
    for (path, words) in [("latin.md", "UTF-8"), ("huge.md", "larger than 8 MiB")] {
        let before = std::fs::metadata(folder.join(path)).unwrap();
        for (tool, arguments) in [
            ("memory_read", json!({"path": path})),
            ("memory_append", json!({"path": path, "entry": "x"})),
            ("memory_patch", json!({"path": path, "old_str": "c", "new_str": "x"})),
            ("memory_update", json!({"path": path, "old_text": "c", "new_text": "x"})),
        ] {
            let complaint = refused(&world, tool, &arguments, 1);
            assert!(complaint.contains(path) && complaint.contains(words), "{complaint}");
        }
        let after = std::fs::metadata(folder.join(path)).unwrap();
        assert_eq!(
            (after.len(), after.modified().unwrap()),
            (before.len(), before.modified().unwrap())
        );
    }
    refused(&world, "memory_write", &json!({"path": "huge.md", "content": "small"}), 1);
    assert_eq!(std::fs::metadata(folder.join("huge.md")).unwrap().len(), 60 << 20);
    agent(&world, "memory_append", &json!({"path": "a.md", "entry": "more"}));
    // A file that is not text can be deleted and restored.
    agent(&world, "memory_delete", &json!({"path": "latin.md"}));
    memory(&world, &["restore", "latin.md"]);
    assert_eq!(std::fs::read(folder.join("latin.md")).unwrap(), b"caf\xe9\n");
}

/// A foreign repository may contain anything in place of the notes.
#[test]
fn a_hostile_repository_cannot_redirect_notes() {
    let world = world();
    world.write("elsewhere/.git/HEAD", "ref: refs/heads/main\n");
    let repo = world.folder("elsewhere");
    let target = world.folder("secrets");
    world.write("secrets/a.md", "secret words\n");
    symlink(&target, repo.join(".memory")).unwrap();
    world.tome(&["start"]);
    daemon_up(&world);
    let before = everything(&world);
    for (tool, arguments) in calls("a.md") {
        if arguments["scope"].is_string() {
            continue;
        }
        let answer: v1::CallToolResponse = wire(&world, tool, &arguments);
        assert!(answer.is_error && answer.text.contains("symbolic link"), "{tool}: {answer:?}");
    }
    assert_eq!(run_tool(&world, "memory_list", &json!({})).code, 1);
    assert_eq!(world.tome(&["init", "--in-repo"]).code, 1);
    let mut after = everything(&world);
    after.retain(|path, _| before.contains_key(path) || !path.starts_with(world.home()));
    assert_eq!(after, before);
    std::fs::remove_file(repo.join(".memory")).unwrap();

    // A real folder with links inside.
    std::fs::create_dir(repo.join(".memory")).unwrap();
    symlink(&target, repo.join(".memory/facts")).unwrap();
    symlink(target.join("a.md"), repo.join(".memory/MEMORY.md")).unwrap();
    let secrets = files_below(&target);
    for (tool, arguments) in calls("facts/a.md") {
        if arguments["scope"].is_string() {
            continue;
        }
        let answer = wire(&world, tool, &arguments);
        assert!(answer.is_error && !answer.text.contains("secret words"), "{tool}: {answer:?}");
    }
    let _ = wire(&world, "memory_write", &json!({"path": "b.md", "content": "mine"}));
    let view = wire(&world, "memory_view", &json!({}));
    assert!(!view.text.contains("secret words"), "{view:?}");
    assert_eq!(files_below(&target), secrets);
}
