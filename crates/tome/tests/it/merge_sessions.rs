//! `tome admin merge-sessions`: reunites sessions that earlier versions stored in several projects.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tome_home::{Home, StoreMode, Stores};
use tome_ledger::{NewEvent, StorageEngine};
use tome_model::{Agent, Draft, Millis, SystemClock};
use tome_testkit::{World, prompt_draft};

use crate::support::{MORNING_MS, daemon_gone, ids, list, status, texts, world};

/// Stores an event in a project regardless of its session's project, as earlier versions did.
fn store(stores: &Stores, project: &str, session: &str, id: &str, at_ms: u64, text: &str) {
    let (agent, cwd) = (Agent::parse("claude-code").unwrap(), project.to_owned());
    let draft = Draft { agent, cwd, ..prompt_draft(id, session, Millis(at_ms), text) };
    let event = NewEvent::encode(draft, project.to_owned(), Millis(at_ms + 5));
    stores.open_project(project).unwrap().append(vec![event]).unwrap();
}

/// A home with session `split` in three projects, one event of which is in two of them.
fn damaged(world: &World, mode: StoreMode) {
    let home = Home::at(world.home());
    std::fs::create_dir_all(home.projects()).unwrap();
    let stores = Stores::new(home, mode, StorageEngine::DEFAULT, std::sync::Arc::new(SystemClock));
    store(&stores, "/gone/app", "split", "first", MORNING_MS, "the first words");
    store(&stores, "/gone/app/sub", "split", "second", MORNING_MS + 60_000, "the second words");
    store(&stores, "/gone/app/sub", "other", "kept", MORNING_MS + 61_000, "of another session");
    store(&stores, "/gone/app/deep", "split", "third", MORNING_MS + 120_000, "the third words");
    if mode == StoreMode::PerProject {
        store(&stores, "/gone/app/sub", "split", "first", MORNING_MS, "the first words");
        // The same text later got the id of its first occurrence in another store.
        store(&stores, "/gone/app/deep", "split", "second", MORNING_MS + 130_000, "again");
    }
    stores.close_idle(0);
}

fn projects(events: &[Value]) -> BTreeSet<(&str, &str)> {
    let text = |event: &'_ Value, name: &str| event[name].as_str().unwrap().to_owned();
    let all: Vec<(String, String)> =
        events.iter().map(|event| (text(event, "session_id"), text(event, "project"))).collect();
    all.into_iter().map(|(a, b)| (&*a.leak(), &*b.leak())).collect()
}

#[test]
fn a_split_session_is_reported_and_merged() {
    let world = world();
    damaged(&world, StoreMode::PerProject);
    assert_eq!(world.tome(&["start"]).code, 0);
    assert_eq!(status(&world)["split_sessions"], 1);
    let doctor = world.tome(&["doctor"]);
    assert!(doctor.stdout.contains("tome admin merge-sessions"), "{doctor:?}");
    let before = world.events();
    let dry = world.tome(&["admin", "merge-sessions", "--dry-run", "--json"]).json();
    assert_eq!(
        (&dry["sessions"][0]["events"], &dry["sessions"][0]["duplicates"]),
        (&4.into(), &1.into()),
        "{dry}"
    );
    assert_eq!(world.events(), before, "a dry run changes nothing");

    let done = world.tome(&["admin", "merge-sessions", "--json"]).json();
    assert_eq!(done["sessions"][0]["project"], "/gone/app", "{done}");
    for kept in done["kept"].as_array().unwrap() {
        assert!(std::path::Path::new(kept.as_str().unwrap()).is_dir(), "{kept}");
    }
    daemon_gone(&world);
    let events = world.events();
    assert_eq!(
        texts(&events),
        ["the first words", "the second words", "of another session", "the third words", "again"]
    );
    assert_eq!(
        projects(&events),
        BTreeSet::from([("split", "/gone/app"), ("other", "/gone/app/sub")])
    );
    let all = ids(&events);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    assert_eq!(events[0]["arrived"], json!(Millis(MORNING_MS + 5)));
    assert_eq!(status(&world)["split_sessions"], 0);
    // Projections follow: contents, counts and search.
    let found = world.tome(&["recall", "third words", "--project", "/gone/app", "--json"]).json();
    assert!(found.to_string().contains("third words"), "{found}");
    assert_eq!(list(&world, &["--project", "/gone/app/deep"]).len(), 0);

    let again = world.tome(&["admin", "merge-sessions", "--json"]).json();
    assert_eq!(again["sessions"], json!([]));
    assert_eq!(world.events(), events);
}

#[test]
fn in_a_unified_store_events_get_the_right_project() {
    let world = world();
    std::fs::write(world.config_file(), "[store]\nmode = \"unified\"\n").unwrap();
    damaged(&world, StoreMode::Unified);
    assert_eq!(world.tome(&["start"]).code, 0);
    assert_eq!(status(&world)["split_sessions"], 1);
    world.tome(&["admin", "merge-sessions"]);
    daemon_gone(&world);
    let events = world.events();
    assert_eq!(ids(&events), ["first", "second", "kept", "third"]);
    assert_eq!(
        projects(&events),
        BTreeSet::from([("split", "/gone/app"), ("other", "/gone/app/sub")])
    );
}

/// After a kill between the two renames, the new store is put in place at the next start.
#[test]
fn a_killed_merge_is_finished_at_the_next_start() {
    let world = world();
    damaged(&world, StoreMode::PerProject);
    assert_eq!(world.tome(&["start"]).code, 0);
    let done = world.tome(&["admin", "merge-sessions", "--json"]).json();
    daemon_gone(&world);
    let events = world.events();
    world.kill_daemon();
    for kept in done["kept"].as_array().unwrap() {
        let folder = std::path::Path::new(kept.as_str().unwrap()).parent().unwrap();
        std::fs::rename(folder.join("ledger"), folder.join("ledger.rewritten")).unwrap();
    }
    assert_eq!(world.events(), events);
}
