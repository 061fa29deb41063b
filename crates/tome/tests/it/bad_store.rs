//! A store that cannot be read is reported, and the others keep working.

use std::path::PathBuf;

use serde_json::json;
use tome_testkit::{World, eventually};

use crate::support::{line_with, status, texts, world};

/// A world without a running daemon, with one good project and one whose store has a newer format.
fn half_bad() -> (World, PathBuf, String) {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    world.ingest(&in_project("bad", "/bad", 1_000));
    world.ingest(&in_project("good", "/good", 2_000));
    let told = world.tome(&["--json"]).json();
    let projects = told["projects"].as_array().unwrap();
    let bad = projects.iter().find(|project| project["root"] == "/bad").unwrap();
    let store = PathBuf::from(bad["ledger"].as_str().unwrap()).join("STORE");
    assert_eq!(world.tome(&["stop"]).code, 0);
    let good = std::fs::read_to_string(&store).unwrap();
    let newer: Vec<&str> = good
        .lines()
        .map(|line| if line.starts_with("format") { "format = 99" } else { line })
        .collect();
    std::fs::write(&store, newer.join("\n") + "\n").unwrap();
    (world, store, good)
}

fn in_project(id: &str, cwd: &str, at: u64) -> String {
    line_with(&json!({"id": id, "cwd": cwd, "at": at, "text": id}))
}

fn spool(world: &World, lines: &str) {
    let folder = world.home().join("spool");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("events.jsonl"), lines).unwrap();
}

#[test]
fn the_spool_keeps_events_of_a_bad_store_and_drains_the_others() {
    let (world, store, good) = half_bad();
    let lines = in_project("b1", "/bad", 3_000)
        + &in_project("g1", "/good", 4_000)
        + &in_project("b2", "/bad", 5_000);
    spool(&world, &lines);
    assert_eq!(world.tome(&["start"]).code, 0);
    eventually("the good project's event", || {
        (status(&world)["daemon"]["drained"] == 1).then_some(())
    });
    assert_eq!(status(&world)["spool"]["waiting_events"], 2);
    // A later event is not held up either.
    spool(&world, &in_project("g2", "/good", 6_000));
    let ran = world.tome(&["events", "--project", "/good", "--json"]);
    assert_eq!(texts(&ran.json_lines()), ["good", "g1", "g2"]);
    // A result reports what it could not include.
    let missing = "skipped: 2 events still in the spool";
    assert!(ran.stderr.contains(missing), "{}", ran.stderr);
    let recalled = world.tome(&["recall", "g1", "--project", "/good"]);
    assert!(recalled.stderr.contains(missing), "{}", recalled.stderr);
    let root = world.tome(&["toc", "--all-projects"]);
    assert!(root.stderr.contains(missing), "{}", root.stderr);
    let query = json!({"query": "g1"}).to_string();
    let tool = world.tome(&["tool", "recall_memory", &query, "--project", "/good"]);
    assert!(tool.stdout.contains("Not included: 2 events"), "{}", tool.stdout);
    // Logged once, not at every attempt.
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert_eq!(log.matches("events wait in the spool").count(), 1, "{log}");
    std::fs::write(&store, good).unwrap();
    eventually("everything to be stored", || {
        (status(&world)["spool"]["waiting_events"] == 0).then_some(())
    });
    assert_eq!(texts(&world.events()), ["bad", "good", "b1", "g1", "b2", "g2"]);
}

#[test]
fn a_bad_store_is_reported_and_the_others_are_listed() {
    let (world, store, _) = half_bad();
    assert_eq!(world.tome(&["start"]).code, 0);
    let ledger = store.parent().unwrap().to_str().unwrap();
    let overview = world.tome(&[]);
    assert_eq!(overview.code, 0);
    assert!(overview.stdout.contains("1 event,"), "{}", overview.stdout);
    assert!(overview.stdout.contains("1 store cannot be read"), "{}", overview.stdout);
    let told = world.tome(&["status"]);
    assert_eq!(told.code, 0, "{}", told.stdout);
    assert!(
        told.stdout.contains(ledger) && told.stdout.contains("upgrade Tome"),
        "{}",
        told.stdout
    );
    let doctor = world.tome(&["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("fail  store"), "{}", doctor.stdout);
    assert!(!doctor.stdout.contains("does not answer"), "{}", doctor.stdout);
    let all = world.tome(&["events", "--all-projects", "--json"]);
    assert_eq!((all.code, texts(&all.json_lines())), (0, vec!["good"]));
    assert!(all.stderr.contains(ledger), "{}", all.stderr);
    assert_eq!(world.tome(&["show", "good"]).code, 0);
    let alone = world.tome(&["events", "--project", "/bad"]);
    assert_eq!(alone.code, 1);
    assert!(alone.stderr.contains("upgrade Tome"), "{}", alone.stderr);
}

#[test]
fn a_home_with_only_bad_stores_is_not_reported_as_empty() {
    let (world, _, _) = half_bad();
    for project in std::fs::read_dir(world.home().join("projects")).unwrap() {
        let store = project.unwrap().path().join("ledger/STORE");
        if store.exists() {
            std::fs::write(store, "nonsense\n").unwrap();
        }
    }
    assert_eq!(world.tome(&["start"]).code, 0);
    let told = world.tome(&[]).stdout;
    assert!(
        !told.contains("No events recorded") && told.contains("2 stores cannot be read"),
        "{told}"
    );
}

/// A hook that was stopped while holding the spool's lock.
#[test]
fn a_locked_spool_does_not_block_answers() {
    let (world, _, _) = half_bad();
    assert_eq!(world.tome(&["start"]).code, 0);
    spool(&world, &in_project("late", "/good", 9_000));
    let lock = std::fs::File::create(world.home().join("spool/lock")).unwrap();
    lock.lock().unwrap();
    // Whether it was drained before or is still waiting, there must be an answer.
    let ran = world.tome(&["events", "--project", "/good", "--json"]);
    assert_eq!(texts(&ran.json_lines()).first(), Some(&"good"));
    drop(lock);
    eventually("the late one", || {
        let ran = world.tome(&["events", "--project", "/good", "--json"]);
        (texts(&ran.json_lines()) == ["good", "late"]).then_some(())
    });
}
