//! The contents are built in the background, continue after a crash, and can be rebuilt.

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::contents::{check_node, lexer_session, lines};
use crate::support::{MORNING_MS, daemon_up, line_with, prompt, world};

const HOUR_MS: u64 = 3_600_000;

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

/// Every node with all its fields.
fn everything(world: &World) -> Vec<Value> {
    let mut found = Vec::new();
    let mut left: Vec<String> =
        ids(&lines(world, &["toc", "--all-projects", "--depth", "1", "-n", "0"]));
    while let Some(id) = left.pop() {
        for node in lines(world, &["toc", &id, "--all-projects"]) {
            left.extend(ids(node["children"].as_array().unwrap()));
            found.push(node);
        }
    }
    found.sort_by_key(|node| (node["id"].to_string(), node["project"].to_string()));
    found.dedup();
    found
}

fn ids(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
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
fn a_late_event_reopens_its_periods_all_the_way_up() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let at = MORNING_MS + 40 * 24 * HOUR_MS;
    world.ingest(&line_with(&json!({"id": "later", "at": at, "session_id": "s2"})));
    let path = ["toc:day:2026-11-15", "toc:week:2026-W46", "toc:month:2026-11", "toc:year:2026"];
    let before: Vec<Value> = path.iter().map(|id| check_node(&world, id)).collect();
    assert_eq!(before[0]["events"], 6);
    let untouched = check_node(&world, "toc:month:2026-12");
    world.ingest(&line_with(&json!({
        "id": "late", "at": MORNING_MS + HOUR_MS, "session_id": "s3",
        "text": "Why does the parser accept a trailing comma?",
    })));
    for (id, was) in path.iter().zip(&before) {
        let is = check_node(&world, id);
        assert_eq!(is["events"].as_u64(), was["events"].as_u64().map(|events| events + 1), "{id}");
    }
    assert_eq!(check_node(&world, "toc:month:2026-12"), untouched);
    verify(&world);
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

#[test]
fn a_rebuild_changes_nothing() {
    for mode in ["per-project", "unified"] {
        let world = world();
        world.write("config.toml", &format!("[store]\nmode = \"{mode}\"\n"));
        world.ingest(&lexer_session("s2", 200));
        world.ingest(&lexer_session("s1", 0));
        let other = json!({"id": "other", "cwd": "/other", "session_id": "s9"});
        world.ingest(&line_with(&other));
        let before = everything(&world);
        assert!(before.len() >= 11, "{before:?}");
        let done = lines(&world, &["admin", "rebuild-toc"]);
        for store in &done {
            assert_eq!((&store["written"], &store["removed"]), (&json!(0), &json!(0)), "{store}");
            assert_eq!(store["problem"], Value::Null);
        }
        assert_eq!(everything(&world), before, "{mode}");
        verify(&world);
        let text = world.tome(&["admin", "rebuild-toc"]);
        assert!(text.stdout.contains("nothing changed"), "{}", text.stdout);
    }
}

#[test]
fn another_time_zone_gives_other_days() {
    let world = world();
    let at = MORNING_MS + 14 * HOUR_MS;
    world.ingest(&line_with(&json!({"id": "evening", "at": at, "session_id": "s1"})));
    assert_eq!(check_node(&world, "toc:day:2026-11-15")["events"], 1);
    world.tome(&["stop"]);
    world.write("config.toml", "[contents]\nzone = \"Asia/Tokyo\"\n");
    assert_eq!(check_node(&world, "toc:day:2026-11-16")["events"], 1);
    assert_eq!(world.tome(&["toc", "toc:day:2026-11-15"]).code, 4);
    verify(&world);
}

#[test]
fn simultaneous_unordered_and_future_events_are_handled() {
    let world = world();
    let at = |id: &str, at: u64| {
        let text = format!("Rename the token kind {id} in src/lexer.rs");
        line_with(&json!({"id": id, "at": at, "session_id": "s1", "text": text}))
    };
    let instant: String = (0..20).map(|n| at(&format!("same{n}"), MORNING_MS)).collect();
    world.ingest(&instant);
    world.ingest(&(at("b", MORNING_MS + 2) + &at("a", MORNING_MS + 1)));
    world.ingest(&at("future", 4_102_444_800_000));
    assert_eq!(check_node(&world, "toc:day:2026-11-15")["events"], 22);
    assert_eq!(check_node(&world, "toc:day:2100-01-01")["events"], 1);
    let huge = "x".repeat(5 * 1024 * 1024);
    world.ingest(&line_with(&json!({
        "id": "huge", "session_id": "s2", "kind": "tool_result", "text": "",
        "tool": {"name": "Bash", "input": {"command": "cat big"}, "output": huge},
    })));
    assert_eq!(check_node(&world, "toc:day:2026-11-15")["events"], 23);
    assert!(verify(&world).1 > 0);
}
