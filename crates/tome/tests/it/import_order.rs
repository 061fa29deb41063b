//! Imports of history whose folders are gone: the same files give the same projects, sessions and
//! ids in any order, and nothing is stored twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::import::import;
use crate::support::{MORNING_MS, tool_result, world};

/// A transcript of Claude Code with one prompt per folder of the session.
fn transcript(session: &str, minute: u64, folders: &[&str]) -> String {
    let mut text = String::new();
    for (n, cwd) in (0..).zip(folders) {
        let at = tome_model::Millis(MORNING_MS + minute * 60_000 + n * 5_000);
        let (uuid, prompt) = (format!("{session}-{n}"), format!("turn-{session}-{n}"));
        let message = json!({"role": "user", "content": format!("step {n} of {session}")});
        let line = json!({
            "type": "user", "uuid": uuid, "sessionId": session, "cwd": cwd, "timestamp": at,
            "promptId": prompt, "message": message,
        });
        text += &format!("{line}\n");
    }
    text
}

const SESSIONS: [(&str, u64, &[&str]); 5] = [
    ("moves-down", 0, &["/gone/app", "/gone/app/crates/core", "/gone/app"]),
    ("begins-below", 10, &["/gone/app/crates", "/gone/app", "/gone/app/crates/core"]),
    ("above", 20, &["/gone", "/gone/app/crates"]),
    ("elsewhere", 30, &["/gone/other/sub", "/gone/other"]),
    ("root", 40, &["/gone/other"]),
];

/// Imports the sessions in this order, one file at a time; returns the project of each event.
fn import_in_order(order: &[usize]) -> BTreeSet<(String, String)> {
    let world = world();
    for index in order {
        let (session, minute, folders) = SESSIONS[*index];
        let path = world.write(&format!("{session}.jsonl"), &transcript(session, minute, folders));
        import(&world, &[path.to_str().unwrap()]);
    }
    let events = world.events();
    check_once(&events);
    for index in order {
        let path = world.path().join(format!("{}.jsonl", SESSIONS[*index].0));
        let again = import(&world, &[path.to_str().unwrap()]);
        assert_eq!(again["imported"], 0, "{again}");
    }
    assert_eq!(world.events().len(), events.len());
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    events.iter().map(|event| (text(event, "id"), text(event, "project"))).collect()
}

/// Checks that each id is stored once and each session is in one project.
fn check_once(events: &[Value]) {
    let mut projects: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for event in events {
        assert!(ids.insert(event["id"].as_str().unwrap()), "twice: {event}");
        let session = event["session_id"].as_str().unwrap();
        projects.entry(session).or_default().insert(event["project"].as_str().unwrap());
    }
    assert!(projects.values().all(|of_one| of_one.len() == 1), "{projects:?}");
}

#[test]
fn any_order_of_files_gives_the_same_projects() {
    let first = import_in_order(&[0, 1, 2, 3, 4]);
    assert_eq!(first.len(), 11 + 5, "every prompt and every start");
    for order in [[4, 3, 2, 1, 0], [1, 0, 3, 2, 4], [2, 4, 0, 3, 1]] {
        assert_eq!(import_in_order(&order), first, "{order:?}");
    }
    // All at once, which the daemon processes in parallel.
    let world = world();
    for (session, minute, folders) in SESSIONS {
        world.write(&format!("all/{session}.jsonl"), &transcript(session, minute, folders));
    }
    import(&world, &[world.path().join("all").to_str().unwrap()]);
    let events = world.events();
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    let all: BTreeSet<_> =
        events.iter().map(|event| (text(event, "id"), text(event, "project"))).collect();
    assert_eq!(all, first);
}

fn repository(world: &World, name: &str) -> String {
    world.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    world.folder(name).to_str().unwrap().to_owned()
}

/// A hook ran in a subfolder of a repository; by the time of the import both are gone.
#[test]
fn a_session_recorded_by_hooks_stays_in_its_project() {
    let world = world();
    let root = repository(&world, "app");
    let below = world.folder("app/src").to_str().unwrap().to_owned();
    let payload = tool_result("toolu_0123456789", &json!({"command": "ls"}), &json!("x"));
    world.hook(&["claude-code"], payload.replace("/app", &below));
    std::fs::remove_dir_all(&root).unwrap();
    let path = world.write("s1.jsonl", &transcript("s1", 0, &[&below, &root]));
    assert_eq!(import(&world, &[path.to_str().unwrap()])["imported"], 3);
    let events = world.events();
    check_once(&events);
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|event| event["project"] == root.as_str()), "{events:?}");
    // Also with a daemon that must look it up in the stores.
    // The one that the hook started may come up only after the first has stopped.
    eventually("no daemon to be left", || {
        let stopped = world.tome(&["stop"]).code == 0;
        (stopped && world.daemon_pid().is_none()).then_some(())
    });
    std::fs::remove_file(world.home().join("run/sessions.jsonl")).unwrap();
    assert_eq!(import(&world, &[path.to_str().unwrap()])["imported"], 0);
    assert_eq!(world.events().len(), 4);
}

/// The remaining parents of a deleted folder identify its repository.
#[test]
fn a_deleted_folder_belongs_to_the_repository_above_it() {
    let world = world();
    let root = repository(&world, "app");
    let path = world.write("t.jsonl", &transcript("t", 0, &[&format!("{root}/removed/deep")]));
    import(&world, &[path.to_str().unwrap()]);
    let events = world.events();
    assert!(events.iter().all(|event| event["project"] == root.as_str()), "{events:?}");
}

/// A session stays in the project of its first event, wherever its directory moves, also after a
/// restart.
#[test]
fn a_session_stays_in_one_project_across_kills() {
    let world = world();
    let (one, other) = (repository(&world, "one"), repository(&world, "other"));
    for (n, cwd) in [&one, &other, &one, &other].into_iter().enumerate() {
        let call = format!("toolu_0123456789_{n}");
        let payload = tool_result(&call, &json!({"n": n}), &json!("x"));
        world.hook(&["claude-code"], payload.replace("/app", cwd));
        world.events();
        world.kill_daemon();
    }
    let events = world.events();
    assert_eq!(events.len(), 4);
    check_once(&events);
    assert_eq!(events[0]["project"], one.as_str());
}
