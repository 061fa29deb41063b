//! Files in the daemon's home: sockets, permissions, logs, and the stores in both modes.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tome_testkit::{Signal, World, eventually, is_alive, send_signal};

use crate::support::{ids, line, line_with, list, prompt, status, strings, texts, world};

#[test]
fn a_home_path_too_long_for_a_socket_works() {
    let deep = format!("{}/home", ["a-folder-with-a-rather-long-name"; 5].join("/"));
    let world = world().with_home(&deep);
    assert!(world.home().as_os_str().len() > 150);
    world.ingest(&line("a", 1_000, "far down"));
    world.hook(&["claude-code"], prompt("and a hook"));
    let events = world.events();
    assert_eq!(texts(&events), ["far down", "and a hook"]);
    let endpoint = status(&world)["daemon"]["endpoints"][0].as_str().unwrap().to_owned();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&endpoint)), 0o600);
    assert_eq!(mode(Path::new(&endpoint).parent().unwrap()), 0o700);
    assert_eq!(world.tome(&["stop"]).code, 0);
    assert!(!Path::new(&endpoint).exists());
}

fn everything_in(folder: &Path, found: &mut Vec<PathBuf>) {
    found.push(folder.to_path_buf());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            everything_in(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn only_the_owner_can_read_the_home() {
    let world = world();
    // The umask may be anything, and the home may already exist.
    std::fs::create_dir_all(world.home()).unwrap();
    std::fs::set_permissions(world.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut hook = world.command(&["hook", "claude-code"]);
    World::run_hook_command(hook.env("TOME_DAEMON_AUTOSTART", "false"), prompt("spooled first"));
    World::run(world.command(&["start"]).env("TOME_DAEMON_TCP", "0"), b"");
    world.ingest(&line("a", 1_000, "a"));
    std::fs::write(world.home().join("spool/events.jsonl"), "torn\n").unwrap();
    std::fs::remove_file(world.home().join("spool/events.jsonl")).unwrap();
    world.tome(&["admin", "flush"]);
    world.tome(&["admin", "compact"]);
    let mut found = Vec::new();
    everything_in(&world.home(), &mut found);
    assert!(found.len() > 10, "{found:?}");
    assert!(found.iter().any(|path| path.ends_with("run/token")));
    let mut sockets = 0;
    for path in &found {
        let meta = std::fs::symlink_metadata(path).unwrap();
        sockets += usize::from(meta.file_type().is_socket());
        let mode = meta.permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
    }
    assert_eq!(sockets, 1);
}

#[test]
fn the_log_rotates() {
    let world = world();
    let log = world.home().join("run/daemon.log");
    std::fs::create_dir_all(world.home().join("run")).unwrap();
    std::fs::write(&log, "old\n".repeat(300_000)).unwrap();
    world.tome(&["start"]);
    eventually("a new log", || (log.metadata().ok()?.len() < 10_000).then_some(()));
    assert_eq!(std::fs::metadata(log.with_extension("log.1")).unwrap().len(), 1_200_000);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("listening at"), "{text}");
}

/// Even the owner's log contains no text of events.
#[test]
fn the_log_contains_no_event_text() {
    let world = world();
    world.ingest(&line("a", 1_000, "a very telling sentence"));
    world.hook(&["codex"], prompt("another telling sentence"));
    world.tome(&["stop"]);
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(log.contains("listening at") && log.contains("stopped"), "{log}");
    assert!(!log.contains("telling"), "{log}");
}

#[test]
fn unified_mode_has_one_ledger_for_all_projects() {
    let world = world();
    std::fs::write(world.config_file(), "[store]\nmode = \"unified\"\n").unwrap();
    for (id, at, cwd) in [("a", 1, "/one"), ("b", 2, "/two"), ("c", 3, "/one")] {
        world.ingest(&line_with(&json!({"id": id, "at": at, "cwd": cwd, "session_id": cwd})));
    }
    assert!(world.home().join("unified/ledger").is_dir());
    let all = world.events();
    assert_eq!(
        (ids(&all), strings(&all, "project")),
        (vec!["a", "b", "c"], vec!["/one", "/two", "/one"])
    );
    assert_eq!(ids(&list(&world, &["--project", "/one"])), ["a", "c"]);
    assert_eq!(ids(&list(&world, &["--project", "/two", "-n", "1"])), ["b"]);
    let overview = world.tome(&["--json"]).json();
    assert_eq!(
        (&overview["events"], &overview["daemon"]["store_mode"]),
        (&json!(3), &json!("unified"))
    );
    let mut roots: Vec<&str> = strings(overview["projects"].as_array().unwrap(), "root");
    roots.sort_unstable();
    assert_eq!(roots, ["/one", "/two"]);
}

/// An agent may change projects within a session: each project counts its own events.
#[test]
fn a_session_that_moves_between_projects_is_counted_in_both() {
    for mode in ["per-project", "unified"] {
        let world = world();
        std::fs::write(world.config_file(), format!("[store]\nmode = \"{mode}\"\n")).unwrap();
        for (id, cwd) in [("a", "/one"), ("b", "/two"), ("c", "/one")] {
            world.ingest(&line_with(&json!({"id": id, "cwd": cwd})));
        }
        let overview = world.tome(&["--json"]).json();
        let mut counted: Vec<(&str, u64)> = overview["projects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["root"].as_str().unwrap(), one["events"].as_u64().unwrap()))
            .collect();
        counted.sort_unstable();
        assert_eq!(counted, [("/one", 2), ("/two", 1)], "{mode}");
    }
}

/// Changing the mode hides the other mode's stores and damages none of them.
#[test]
fn changing_the_mode_back_restores_everything() {
    let world = world();
    let mode = |mode: &str| {
        world.tome(&["stop"]);
        std::fs::write(world.config_file(), format!("[store]\nmode = \"{mode}\"\n")).unwrap();
    };
    mode("per-project");
    world.ingest(&line("a", 1, "per project"));
    mode("unified");
    world.ingest(&line("b", 2, "unified"));
    assert!(texts(&world.events()).contains(&"unified"));
    mode("per-project");
    world.ingest(&line("c", 3, "per project again"));
    assert_eq!(ids(&world.events()), ["a", "c"]);
    mode("unified");
    assert_eq!(ids(&world.events()), ["b"]);
}

#[test]
fn a_store_locked_by_another_process_is_reported() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    let pid = world.daemon_pid().unwrap();
    // The lock file is gone while its daemon still runs. It is suspended, so that it does not notice
    // and exit before the other one opens the store.
    assert!(send_signal(pid, Signal::Stop));
    std::fs::remove_file(world.home().join("run/daemon.lock")).unwrap();
    std::fs::remove_file(world.socket()).unwrap();
    let ran = world.tome(&["events"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("projects/--app--/ledger"), "{}", ran.stderr);
    send_signal(pid, Signal::Kill);
    eventually("the first daemon to be gone", || (!is_alive(pid)).then_some(()));
    // The store is opened as soon as the other process is gone.
    assert_eq!(ids(&world.events()), ["a"]);
}

/// Counting happens in the background and on request: no request fails while events arrive, and each
/// event is counted once.
#[test]
fn each_event_is_counted_once_whenever_counts_are_requested() {
    let world = world();
    world.tome(&["start"]);
    let over = AtomicBool::new(false);
    let refused = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                world.with_client(async |client| {
                    while !over.load(Ordering::SeqCst) {
                        if let Err(error) = client.get_status(true).await {
                            refused.lock().unwrap().push(error.to_string());
                        }
                    }
                });
            });
        }
        for round in 0..10 {
            let lines: String =
                (0..400).map(|n| line(&format!("r{round}-{n}"), n, "words")).collect();
            world.ingest(&lines);
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(refused.into_inner().unwrap(), Vec::<String>::new());
    let overview = world.tome(&["--json"]).json();
    assert_eq!(overview["events"], 4_000);
    assert_eq!(overview["daemon"]["stores"][0]["events"], 4_000);
}
