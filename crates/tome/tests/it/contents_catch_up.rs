//! The contents are built in the background, continue after a crash, and can be rebuilt.

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::contents::{check_node, lexer_session, lines};
use crate::support::{daemon_up, prompt, world};

/// Progress of the contents over all stores: events left and events read.
fn progress(world: &World) -> (u64, u64) {
    let mut all = (0, 0);
    for store in lines(world, &["admin", "status"]) {
        let projections = store["workers"].as_array().unwrap();
        let projection =
            projections.iter().find(|projection| projection["name"] == "contents").unwrap();
        all.0 += projection["behind"].as_u64().unwrap();
        all.1 += projection["cursor"].as_u64().unwrap();
    }
    all
}

/// Waits until everything has been read, without querying the contents.
fn all_read(world: &World, events: u64) {
    eventually("everything to be read", || (progress(world) == (0, events)).then_some(()));
}

/// Verifies the contents; returns the number of nodes and grips.
fn verify(world: &World) -> (u64, u64) {
    let ran = world.tome(&["admin", "verify", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let stores = ran.json()["stores"].as_array().unwrap().clone();
    let sum = |name: &str| stores.iter().map(|store| store[name].as_u64().unwrap()).sum();
    (sum("nodes"), sum("grips"))
}

#[test]
fn events_from_hooks_and_ingest_are_processed_in_the_background() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    all_read(&world, 6);
    world.hook(&["claude-code"], prompt("what is left to do in the lexer?"));
    eventually("the prompt to be read", || (progress(&world) == (0, 7)).then_some(()));
    let status = lines(&world, &["admin", "status"]);
    assert!(status[0]["nodes"].as_u64() >= Some(5), "{status:?}");
    assert!(status[0]["grips"].as_u64() > Some(0), "{status:?}");
    assert!(status[0]["versions"].as_u64() >= status[0]["nodes"].as_u64(), "{status:?}");
    let shown = world.tome(&["admin", "status"]);
    assert!(
        shown.stdout.contains("contents") && shown.stdout.contains("session-stats"),
        "{}",
        shown.stdout
    );
}

#[test]
fn the_contents_continue_after_a_killed_daemon() {
    let world = world();
    for round in 0..5 {
        world.ingest(&lexer_session(&format!("s{round}"), round * 60));
        world.kill_daemon();
    }
    world.tome(&["start"]);
    daemon_up(&world);
    all_read(&world, 30);
    assert!(verify(&world).1 > 0);
    let day = check_node(&world, "toc:day:2026-11-15");
    assert_eq!((&day["events"], &day["session_count"]), (&json!(30), &json!(5)));
}

#[test]
fn versions_are_kept_and_queries_add_none() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let day = "toc:day:2026-11-15";
    let versions = |id: &str| lines(&world, &["toc", id, "--versions"]);
    let first = versions(day);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["open"], false, "its only session has ended: {first:?}");
    for _ in 0..3 {
        check_node(&world, day);
        world.tome(&["toc"]);
    }
    assert_eq!(versions(day), first);
    world.ingest(&lexer_session("s2", 120));
    let both = versions(day);
    assert!(both.len() >= 2, "{both:?}");
    assert_eq!(both[0], first[0]);
    let old = lines(&world, &["toc", day, "--version", "1"]);
    assert_eq!((&old[0]["version"], &old[0]["events"]), (&json!(1), &json!(6)));
    assert_eq!(check_node(&world, day)["events"], 12);
    let shown = world.tome(&["toc", day, "--versions"]).stdout;
    assert!(shown.contains("extractive"), "{shown}");
}

/// The nodes before and after are compared by a test of the engine.
#[test]
fn a_rebuild_changes_nothing() {
    let world = world();
    world.ingest(&(lexer_session("s2", 200) + &lexer_session("s1", 0)));
    check_node(&world, "toc:day:2026-11-15");
    for store in &lines(&world, &["admin", "rebuild-toc"]) {
        assert_eq!((&store["written"], &store["removed"]), (&json!(0), &json!(0)), "{store}");
        assert_eq!(store["problem"], Value::Null);
    }
    verify(&world);
    let text = world.tome(&["admin", "rebuild-toc"]);
    assert!(text.stdout.contains("nothing changed"), "{}", text.stdout);
}
