//! The daemon and its indexes: deleted under it, or left behind by a killed daemon, results stay
//! available.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::support::{MORNING_MS, line_with, world};

const WORDS: [&str; 12] = [
    "lexer", "parser", "cache", "socket", "retry", "token", "ledger", "segment", "journal",
    "index", "timeout", "snapshot",
];

/// Sixty turns in three sessions, each with its own identifier, and a note.
fn remembered() -> World {
    let world = world();
    let turn = |n: usize| {
        let (one, other) = (WORDS[n % 12], WORDS[(n * 5 + 3) % 12]);
        line_with(&json!({
            "id": format!("e{n}"), "at": MORNING_MS + n as u64 * 60_000,
            "session_id": format!("s{}", n % 3),
            "kind": if n.is_multiple_of(2) { "user_message" } else { "assistant_message" },
            "text": format!("The {one} of build {n} waits for the {other}, see check_{one}_{n} in src/{other}.rs."),
        }))
    };
    world.ingest(&(0..60).map(turn).collect::<String>());
    let note = json!({"path": "facts/project.md", "content": "# Facts\n\nThe journal is kept for ninety days.\n"});
    let wrote = world.tome(&["tool", "memory_write", &note.to_string(), "--project", "/app"]);
    assert_eq!(wrote.code, 0, "{}", wrote.stderr);
    world
}

pub fn recall(world: &World, query: &str) -> Value {
    let ran = world.tome(&["recall", query, "--project", "/app", "--limit", "10", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{query}");
    ran.json()
}

/// Returns the result once every index has read everything.
pub fn settled(world: &World, query: &str) -> Value {
    eventually("all indexes", || {
        // A question opens the project, and an index that catches up meanwhile is not searched in full.
        recall(world, query);
        if !are_caught_up(world) {
            return None;
        }
        let answer = recall(world, query);
        (answer["tier"] == "fused" && answer["behind"] == 0).then_some(answer)
    })
}

/// Whether no index has anything left to read.
fn are_caught_up(world: &World) -> bool {
    let finder = status(world);
    let index_sets = finder["index_sets"].as_array().into_iter().flatten();
    let mut indexes = index_sets.filter_map(|set| set["indexes"].as_array()).flatten().peekable();
    indexes.peek().is_some() && indexes.all(|index| index["behind"] == 0)
}

/// The part of `tome status` about the indexes.
pub fn status(world: &World) -> Value {
    world.tome(&["status", "--json"]).json()["daemon"]["finder"].clone()
}

pub fn finder(world: &World) -> PathBuf {
    let projects = fs::read_dir(world.home().join("projects")).unwrap();
    let app = projects.flatten().find(|entry| entry.file_name().to_string_lossy().contains("app"));
    app.unwrap().path().join("finder")
}

/// The hits of a result with their scores and names.
pub fn listed(answer: &Value) -> Vec<[&Value; 4]> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| ["citation", "text", "score", "also"].map(|field| &hit[field])).collect()
}

/// Deletes a folder even while files are being written to it.
fn delete(folder: &Path) {
    eventually("a folder to go", || match fs::remove_dir_all(folder) {
        Err(failed) if failed.kind() != std::io::ErrorKind::NotFound => None,
        _ => Some(()),
    });
}

fn first(answer: &Value) -> &Value {
    &answer["hits"][0]
}

/// The tests of the engine delete and damage every part; this is the daemon's share: it notices, and
/// rebuilds in the background.
#[test]
fn a_deleted_index_is_rebuilt_by_the_running_daemon() {
    let world = remembered();
    let queries = ["check_cache_26", "ninety days"];
    let before: Vec<Value> = queries.iter().map(|query| settled(&world, query)).collect();
    delete(&finder(&world));
    // Found at once, in whatever tier.
    let found = recall(&world, "check_cache_26");
    assert!(first(&found)["text"].as_str().unwrap().contains("check_cache_26"), "{found}");
    for (query, before) in queries.iter().zip(&before) {
        assert_eq!(listed(&settled(&world, query)), listed(before), "{query}");
    }
}

#[test]
fn a_killed_daemon_leaves_everything_searchable() {
    let world = remembered();
    for round in 0..3 {
        let text = format!("The comet {round} passes at dawn.");
        let at = MORNING_MS + 90 * 60_000 + round;
        world.ingest(&line_with(&json!({"id": format!("k{round}"), "at": at, "text": text})));
        world.kill_daemon();
        let found = recall(&world, &format!("comet {round}"));
        assert!(first(&found)["text"].as_str().unwrap().contains("comet"), "{found}");
        let found = settled(&world, "comet dawn");
        let comets = found["hits"].as_array().unwrap().iter();
        let comets = comets.filter(|hit| hit["text"].as_str().unwrap().contains("comet"));
        assert!(comets.count() as u64 > round, "{found}");
    }
}
