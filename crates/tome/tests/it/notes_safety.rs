//! Notes are complete and nothing is lost: concurrent writers, a killed daemon, manual edits, a
//! full disk, vanishing folders.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::{World, eventually};

use crate::acceptance::{agent, file, notebook, refused, request, run_tool, wire};
use crate::notes_cli::{check_refused, memory, memory_json};
use crate::support::{daemon_up, world};

/// Every file below a folder with its content, and links with their targets. The history and its
/// caches are excluded.
pub fn files_below(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                files.insert(path.clone(), "a folder".to_owned());
                waiting.push(path);
            } else if kind.is_symlink() {
                files.insert(path.clone(), format!("→ {:?}", std::fs::read_link(path).unwrap()));
            } else if kind.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                files.insert(path, format!("{} {:?}", bytes.len(), blake3::hash(&bytes)));
            } else {
                files.insert(path, "neither a file nor a folder".to_owned());
            }
        }
    }
    files
}

/// Invariants: the index on disk equals a rebuild from the notes, and no temporary file is left.
pub fn check_whole(world: &World) {
    let folder = notebook(world);
    let seen = agent(world, "memory_view", &json!({}));
    let index = file(world, "MEMORY.md");
    std::fs::remove_file(folder.join("MEMORY.md")).unwrap();
    world.kill_daemon();
    assert_eq!(agent(world, "memory_view", &json!({})), seen);
    assert_eq!(file(world, "MEMORY.md"), index, "the index is what a rebuild gives");
    let left: Vec<PathBuf> = files_below(&folder)
        .into_keys()
        .filter(|path| path.file_name().unwrap().to_str().unwrap().ends_with(".tmp"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

/// The lines of a note that begin with a dash.
fn entries(text: &str) -> Vec<&str> {
    let mut entries: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    entries.sort_unstable();
    entries
}

fn expected(writers: usize, each: usize) -> Vec<String> {
    let all = (0..writers).flat_map(|writer| (0..each).map(move |n| entry(writer, n)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    all
}

fn entry(writer: usize, n: usize) -> String {
    format!("- writer {writer} entry {n:04}")
}

#[test]
fn two_concurrent_programs_lose_nothing() {
    let world = world();
    let each = 100;
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let world = &world;
            scope.spawn(move || {
                for n in 0..each {
                    let entry = json!({"path": "log.md", "entry": entry(writer, n)});
                    agent(world, "memory_append", &entry);
                }
            });
        }
    });
    assert_eq!(entries(&file(&world, "log.md")), expected(2, each));
    let log = memory_json(&world, &["log", "log.md", "-n", "0"]);
    assert_eq!(log.len(), 2 * each, "each write is a version");
    check_whole(&world);
}

#[test]
fn eight_concurrent_clients_lose_nothing() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
    let (clients, each) = (8, 125);
    std::thread::scope(|scope| {
        for writer in 0..clients {
            let world = &world;
            scope.spawn(move || {
                let calls: Vec<v1::CallToolRequest> = (0..each)
                    .map(|n| json!({"path": format!("log{}.md", n % 4), "entry": entry(writer, n)}))
                    .map(|arguments| request(world, "memory_append", &arguments))
                    .collect();
                world.with_client(async |client| {
                    for call in calls {
                        let answer = client.call_tool(call).await.unwrap();
                        assert!(!answer.is_error, "{answer:?}");
                    }
                });
            });
        }
    });
    let all: String = (0..4).map(|n| file(&world, &format!("log{n}.md"))).collect();
    assert_eq!(entries(&all), expected(clients, each));
    check_whole(&world);
}

/// Two users with separate homes and one repository: each has a daemon, and both write.
#[test]
fn two_daemons_share_the_notes_of_a_repository() {
    let (one, other) = (world(), world());
    one.write("elsewhere/.git/HEAD", "ref: refs/heads/main\n");
    let repo = one.folder("elsewhere");
    std::fs::create_dir(repo.join(".memory")).unwrap();
    let each = 50;
    std::thread::scope(|scope| {
        for (writer, world) in [&one, &other].into_iter().enumerate() {
            let repo = repo.to_str().unwrap();
            scope.spawn(move || {
                world.tome(&["start"]);
                daemon_up(world);
                let calls = (0..each).map(|n| v1::CallToolRequest {
                    cwd: repo.to_owned(),
                    ..request(
                        world,
                        "memory_append",
                        &json!({"path": "log.md", "entry": entry(writer, n)}),
                    )
                });
                let calls: Vec<_> = calls.collect();
                world.with_client(async |client| {
                    for call in calls {
                        let answer = client.call_tool(call).await.unwrap();
                        assert!(!answer.is_error, "{answer:?}");
                    }
                });
            });
        }
    });
    assert_eq!(entries(&file(&one, "log.md")), expected(2, each));
    check_whole(&one);
}

/// The daemon is killed repeatedly. Acknowledged writes are done; each note is as before or after a
/// call.
#[test]
fn a_killed_daemon_loses_no_acknowledged_write() {
    let world = world();
    let writers = 3;
    let mut acknowledged = vec![0; writers];
    for round in 1..=4 {
        world.tome(&["start"]);
        daemon_up(&world);
        let done: Vec<AtomicUsize> = (0..writers).map(|_| AtomicUsize::new(0)).collect();
        let reached: Vec<usize> = std::thread::scope(|scope| {
            let writing = acknowledged.iter().enumerate().map(|(writer, from)| {
                let (world, done) = (&world, &done[writer]);
                scope.spawn(move || append_until_killed(world, writer, *from, done))
            });
            let writing: Vec<_> = writing.collect();
            eventually("some writes of each", || {
                done.iter().all(|done| done.load(Ordering::Relaxed) > 3 * round).then_some(())
            });
            world.kill_daemon();
            writing.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        world.tome(&["start"]);
        for (writer, reached) in reached.into_iter().enumerate() {
            let text = memory(&world, &["read", &format!("w{writer}.md")]);
            let there = entries(&text);
            assert!(
                there.len() == reached || there.len() == reached + 1,
                "{reached} were acknowledged, {} are there",
                there.len()
            );
            let whole: Vec<String> = (0..there.len()).map(|n| entry(writer, n)).collect();
            assert_eq!(there, whole);
            acknowledged[writer] = there.len();
        }
        check_whole(&world);
    }
    for version in memory_json(&world, &["log", "w0.md", "-n", "12"]) {
        let version = version["version"].as_str().unwrap();
        assert!(memory(&world, &["show", "w0.md", version]).contains("- writer 0 entry 0000"));
    }
}

/// Appends until the daemon is gone. Returns the total number of acknowledged entries.
fn append_until_killed(world: &World, writer: usize, from: usize, done: &AtomicUsize) -> usize {
    world.with_client(async |client| {
        let mut n = from;
        loop {
            let arguments = json!({"path": format!("w{writer}.md"), "entry": entry(writer, n)});
            match client.call_tool(request(world, "memory_append", &arguments)).await {
                Ok(answer) => assert!(!answer.is_error, "{answer:?}"),
                Err(_) => return n,
            }
            n += 1;
            done.fetch_add(1, Ordering::Relaxed);
        }
    })
}

#[test]
fn a_note_changed_since_it_was_read_is_not_overwritten() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    daemon_up(&world);
    let read = run_tool(&world, "memory_read", &json!({"path": "a.md"}));
    assert!(read.stdout.contains("\none\n"), "{}", read.stdout);
    let json = world.tome(&["tool", "memory_read", r#"{"path":"a.md"}"#, "--json"]).json();
    let version = json["version"].as_str().unwrap().to_owned();
    std::fs::write(notebook(&world).join("a.md"), "by hand\n").unwrap();
    let stale = |fields: Value| {
        let mut arguments = json!({"path": "a.md", "if_version": version});
        for (name, value) in fields.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    for (tool, arguments) in [
        ("memory_write", stale(json!({"content": "mine\n"}))),
        ("memory_append", stale(json!({"entry": "mine"}))),
        ("memory_patch", stale(json!({"old_str": "by hand", "new_str": "mine"}))),
        ("memory_update", stale(json!({"old_text": "by hand", "new_text": "mine"}))),
        ("memory_write", json!({"path": "a.md", "content": "mine\n", "if_version": ""})),
        ("memory_write", json!({"path": "b.md", "content": "mine\n", "if_version": version})),
    ] {
        let complaint = refused(&world, tool, &arguments, 1);
        assert!(complaint.contains("read it again"), "{tool}: {complaint}");
        let answer = wire(&world, tool, &arguments);
        assert_eq!((answer.is_error, answer.error_kind.as_str()), (true, "conflict"), "{tool}");
        assert_eq!(file(&world, "a.md"), "by hand\n");
    }
    assert!(!notebook(&world).join("b.md").exists());
    check_refused(&world, &["write", "a.md", "--content", "x", "--if-version", &version], 1, &[]);
    let now = memory_json(&world, &["read", "a.md"])[0]["version"].as_str().unwrap().to_owned();
    let arguments = json!({"path": "a.md", "old_text": "by", "new_text": "BY", "if_version": now});
    agent(&world, "memory_update", &arguments);
    assert_eq!(file(&world, "a.md"), "BY hand\n");
}

/// An update applies to the newest text, so a manual edit is kept.
#[test]
fn an_update_and_a_manual_edit_are_both_kept() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\ntwo\n"}));
    for n in 0..10 {
        let path = notebook(&world).join("a.md");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("hand {n}\n{text}")).unwrap();
        let entry = json!({"path": "a.md", "entry": format!("agent {n}")});
        agent(&world, "memory_append", &entry);
    }
    let text = file(&world, "a.md");
    for n in 0..10 {
        assert!(text.contains(&format!("hand {n}\n")) && text.contains(&format!("agent {n}\n")));
    }
    let who: Vec<Value> =
        memory_json(&world, &["log", "a.md"]).iter().map(|line| line["who"].clone()).collect();
    assert_eq!(who.iter().filter(|who| *who == "outside").count(), 10, "{who:?}");
}

#[test]
fn text_written_into_the_index_can_be_restored() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    let index = file(&world, "MEMORY.md");
    let by_hand = "# My own index\n\nremember the milk\n";
    std::fs::write(notebook(&world).join("MEMORY.md"), by_hand).unwrap();
    assert_eq!(agent(&world, "memory_view", &json!({})), index);
    assert_eq!(file(&world, "MEMORY.md"), index);
    let log = memory_json(&world, &["log", "MEMORY.md"]);
    assert_eq!((log.len(), &log[0]["who"]), (1, &json!("outside")), "{log:?}");
    let version = log[0]["version"].as_str().unwrap();
    assert_eq!(memory(&world, &["show", "MEMORY.md", version]), by_hand);
}

/// Two successive edits without a request in between: the daemon records both.
#[test]
fn the_daemon_notices_edits_between_requests() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    let folder = notebook(&world);
    let versions = || {
        let history = std::fs::read_to_string(folder.join(".history/history.jsonl"));
        history.unwrap().lines().count()
    };
    for text in ["the first edit\n", "the second edit\n"] {
        let before = versions();
        std::fs::write(folder.join("a.md"), text).unwrap();
        eventually("the edit in the history", || (versions() > before).then_some(()));
    }
    let log = memory_json(&world, &["log", "a.md"]);
    assert_eq!(log.len(), 3, "{log:?}");
    let first = log[1]["version"].as_str().unwrap();
    assert_eq!(memory(&world, &["show", "a.md", first]), "the first edit\n");
}

#[test]
fn a_deleted_history_starts_over() {
    let world = world();
    for text in ["one\n", "two\n"] {
        agent(&world, "memory_write", &json!({"path": "a.md", "content": text}));
    }
    std::fs::remove_dir_all(notebook(&world).join(".history")).unwrap();
    assert_eq!(agent(&world, "memory_read", &json!({"path": "a.md"})), "two\n");
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "three\n"}));
    let log = memory_json(&world, &["log", "a.md"]);
    assert_eq!(log.len(), 2, "what was there, and what is there now: {log:?}");
    assert_eq!(memory(&world, &["show", "a.md", log[1]["version"].as_str().unwrap()]), "two\n");
    memory(&world, &["restore", "a.md"]);
    assert_eq!(file(&world, "a.md"), "two\n");
    check_whole(&world);
}

#[test]
fn a_deleted_notebook_starts_over() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    agent(&world, "memory_append", &json!({"path": "facts/b.md", "entry": "- k: v"}));
    let folder = notebook(&world);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(agent(&world, "memory_view", &json!({})), "# Memory\n\n(empty)\n");
    refused(&world, "memory_read", &json!({"path": "a.md"}), 4);
    assert!(!folder.exists(), "looking makes nothing");
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "new\n"}));
    assert_eq!(file(&world, "a.md"), "new\n");
    assert_eq!(agent(&world, "memory_view", &json!({})), file(&world, "MEMORY.md"));
    check_whole(&world);
}

#[test]
fn notes_are_private_and_keep_their_mode() {
    let world = world();
    agent(&world, "memory_append", &json!({"path": "facts/a.md", "entry": "- k: v"}));
    let folder = notebook(&world);
    let mode = |path: &str| folder.join(path).metadata().unwrap().permissions().mode() & 0o777;
    for (path, expected) in [
        ("", 0o700),
        ("facts", 0o700),
        ("facts/a.md", 0o600),
        ("MEMORY.md", 0o600),
        (".history", 0o700),
        (".history/history.jsonl", 0o600),
    ] {
        assert_eq!(mode(path), expected, "{path}");
    }
    for (path, given) in [("facts/a.md", 0o640), ("MEMORY.md", 0o644)] {
        std::fs::set_permissions(folder.join(path), PermissionsExt::from_mode(given)).unwrap();
    }
    agent(&world, "memory_append", &json!({"path": "facts/a.md", "entry": "- m: n"}));
    agent(&world, "memory_patch", &json!({"path": "facts/a.md", "old_str": "v", "new_str": "w"}));
    assert_eq!((mode("facts/a.md"), mode("MEMORY.md")), (0o640, 0o644));
}

/// A daemon that is stopped finishes pending writes.
#[test]
fn a_stopped_daemon_loses_no_acknowledged_write() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
    let done = AtomicUsize::new(0);
    let reached = std::thread::scope(|scope| {
        let writing = scope.spawn(|| append_until_killed(&world, 0, 0, &done));
        eventually("some writes", || (done.load(Ordering::Relaxed) > 10).then_some(()));
        assert_eq!(world.tome(&["stop"]).code, 0);
        writing.join().unwrap()
    });
    let text = memory(&world, &["read", "w0.md"]);
    let there = entries(&text);
    assert!((reached..=reached + 1).contains(&there.len()), "{reached}, {}", there.len());
    check_whole(&world);
}

/// Invalid lines in the history affect only themselves.
#[test]
fn a_history_with_invalid_lines_is_readable() {
    let world = world();
    for text in ["one\n", "two\n"] {
        agent(&world, "memory_write", &json!({"path": "a.md", "content": text}));
    }
    let history = notebook(&world).join(".history/history.jsonl");
    let text = std::fs::read_to_string(&history).unwrap();
    for garbage in [format!("garbage\n{text}"), format!("{text}{{\"n\": 3, \"at"), "\0\0\0".into()]
    {
        world.kill_daemon();
        std::fs::write(&history, &garbage).unwrap();
        assert_eq!(agent(&world, "memory_read", &json!({"path": "a.md"})), "two\n");
        agent(&world, "memory_write", &json!({"path": "a.md", "content": "three\n"}));
        let log = memory_json(&world, &["log", "a.md"]);
        assert!(log.len() >= 2, "{garbage:?}: {log:?}");
        memory(&world, &["restore", "a.md"]);
        assert_eq!(file(&world, "a.md"), "two\n", "{garbage:?}");
    }
}

/// A person's own README among the notes is not touched.
#[test]
fn a_persons_readme_is_not_touched() {
    let world = world();
    agent(&world, "memory_append", &json!({"path": "facts/a.md", "entry": "- k: v"}));
    agent(&world, "memory_write", &json!({"path": "b.md", "content": "b\n"}));
    let folder = notebook(&world);
    for path in ["README.md", "facts/README.md"] {
        std::fs::write(folder.join(path), "# Ours\n").unwrap();
    }
    agent(&world, "memory_append", &json!({"path": "facts/a.md", "entry": "- m: n"}));
    agent(&world, "memory_delete", &json!({"path": "facts/a.md"}));
    check_whole(&world);
    for path in ["README.md", "facts/README.md"] {
        assert_eq!(file(&world, path), "# Ours\n");
        assert_eq!(agent(&world, "memory_read", &json!({"path": path})), "# Ours\n");
    }
}

/// Folders that people create, move in, rename and remove are followed, as are edits there.
#[test]
fn folders_moved_by_hand_are_followed() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "a\n"}));
    let folder = notebook(&world);
    let lines = || {
        let seen = agent(&world, "memory_view", &json!({}));
        assert_eq!(file(&world, "MEMORY.md"), seen);
        seen.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(), ["- [a](a.md) - a"]);
    world.write("made/x/1.md", "one\n");
    world.write("made/x/y/2.md", "two\n");
    std::fs::rename(world.path().join("made/x"), folder.join("x")).unwrap();
    assert_eq!(lines(), ["- [a](a.md) - a", "- [1](x/1.md) - 1", "- [2](x/y/2.md) - 2"]);
    std::fs::rename(folder.join("x"), folder.join("z")).unwrap();
    std::fs::write(folder.join("z/y/2.md"), "> Summary: edited\n").unwrap();
    assert_eq!(lines(), ["- [a](a.md) - a", "- [1](z/1.md) - 1", "- [2](z/y/2.md) - edited"]);
    std::fs::create_dir_all(folder.join("p/q/r")).unwrap();
    std::fs::write(folder.join("p/q/r/s.md"), "new\n").unwrap();
    std::fs::remove_dir_all(folder.join("z")).unwrap();
    assert_eq!(lines(), ["- [a](a.md) - a", "- [s](p/q/r/s.md) - s"]);
    memory(&world, &["restore", "z/y/2.md"]);
    assert_eq!(file(&world, "z/y/2.md"), "> Summary: edited\n");
    check_whole(&world);
}

/// Moving a folder of notes may not exceed the limit of facts.
#[test]
fn a_folder_too_large_for_the_facts_is_not_moved() {
    let world = world();
    let half = "x".repeat(9_000);
    for path in ["q/1.md", "q/2.md"] {
        agent(&world, "memory_write", &json!({"path": path, "content": half}));
    }
    let rename = json!({"command": "rename", "old_path": "/memories/q",
                        "new_path": "/memories/facts"});
    let complaint = refused(&world, "memory", &rename, 2);
    assert!(complaint.contains("15KB limit"), "{complaint}");
    assert!(notebook(&world).join("q/1.md").exists() && !notebook(&world).join("facts").exists());
}

/// Text that a person wrote into a README enters the history even when its folder is emptied.
#[test]
fn text_written_into_a_readme_can_be_restored() {
    let world = world();
    let lesson = json!({
        "type": "semantic", "topic": "errors", "title": "Name errors well",
        "description": "Errors carry the next step.", "tags": ["success", "errors"],
        "content": "One thing. Another thing. A third thing.",
    });
    agent(&world, "coder_memory_store", &lesson);
    world.kill_daemon();
    let topic = world.home().join("coder/semantic/errors");
    let by_hand = "# Errors\n\nwords of a person\n";
    std::fs::write(topic.join("README.md"), by_hand).unwrap();
    std::fs::remove_file(topic.join("errors.md")).unwrap();
    assert_eq!(world.tome(&["coder", "list"]).code, 0);
    let log = memory_json(&world, &["log", "semantic/errors/README.md", "--scope", "coder"]);
    let version = log[0]["version"].as_str().unwrap();
    let show = ["show", "semantic/errors/README.md", version, "--scope", "coder"];
    assert_eq!(memory(&world, &show), by_hand);
}

/// An agent writes continuously while a person saves the same note from an editor. Every saved text
/// is there or can be restored: no write may replace it before it is recorded.
#[test]
fn an_edit_saved_during_agent_writes_is_never_lost() {
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    let folder = notebook(&world);
    let (done, stop) = (AtomicUsize::new(0), std::sync::atomic::AtomicBool::new(false));
    let edits = 40;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            world.with_client(async |client| {
                while !stop.load(Ordering::Relaxed) {
                    let n = done.fetch_add(1, Ordering::Relaxed);
                    let arguments = json!({"path": "a.md", "content": format!("agent {n}\n")});
                    let call = request(&world, "memory_write", &arguments);
                    assert!(!client.call_tool(call).await.unwrap().is_error);
                }
            });
        });
        for n in 0..edits {
            std::fs::write(folder.join(".a.md.swp"), format!("by hand {n}\n")).unwrap();
            std::fs::rename(folder.join(".a.md.swp"), folder.join("a.md")).unwrap();
            // A complete write happens before the next edit.
            let seen = done.load(Ordering::Relaxed);
            eventually("two writes", || (done.load(Ordering::Relaxed) > seen + 2).then_some(()));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let log = memory_json(&world, &["log", "a.md", "-n", "0"]);
    let kept = log.iter().filter(|version| version["who"] == "outside").count();
    assert_eq!(kept, edits, "edits that can be got back");
}
