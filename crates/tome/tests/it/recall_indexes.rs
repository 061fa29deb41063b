//! Indexes are accelerators: deleted, spoiled or behind, the answers stay reachable, and what is made
//! again answers as before.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::scene::{MORNING_MS, line_with, world};

const WORDS: [&str; 12] = [
    "lexer", "parser", "cache", "socket", "retry", "token", "ledger", "segment", "journal",
    "index", "timeout", "snapshot",
];

/// Sixty turns in three sessions, each with an identifier of its own, and a note.
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

/// The answer once every index has read everything.
fn settled(world: &World, query: &str) -> Value {
    eventually("the indexes", || {
        let answer = recall(world, query);
        (answer["tier"] == "fused" && answer["behind"] == 0).then_some(answer)
    })
}

pub fn finder(world: &World) -> PathBuf {
    let projects = fs::read_dir(world.home().join("projects")).unwrap();
    let app = projects.flatten().find(|entry| entry.file_name().to_string_lossy().contains("app"));
    app.unwrap().path().join("finder")
}

/// What an answer lists, with its scores.
pub fn listed(answer: &Value) -> Vec<(&Value, &Value, &Value)> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| (&hit["citation"], &hit["text"], &hit["score"])).collect()
}

fn first(answer: &Value) -> &Value {
    &answer["hits"][0]
}

#[test]
fn an_index_that_is_deleted_is_made_again_and_answers_the_same() {
    let world = remembered();
    let queries =
        ["check_cache_26", "which build waits for the journal", "ninety days", "the retry"];
    let before: Vec<Value> = queries.iter().map(|query| settled(&world, query)).collect();
    let folders = ["bm25", "vectors", "bm25/events", "vectors/pages", ""];
    for folder in folders {
        fs::remove_dir_all(finder(&world).join(folder)).unwrap();
        // Whatever the tier is now: it is found at once.
        let found = recall(&world, "check_cache_26");
        assert!(
            first(&found)["text"].as_str().unwrap().contains("check_cache_26"),
            "{folder}: {found}"
        );
        for (query, before) in queries.iter().zip(&before) {
            assert_eq!(listed(&settled(&world, query)), listed(before), "{folder}: {query}");
        }
    }
}

#[test]
fn what_is_no_index_is_replaced() {
    let world = remembered();
    let before = settled(&world, "check_cache_26");
    let spoil: [(&str, &[u8]); 3] = [
        ("bm25/events/meta.json", b"{"),
        ("vectors/events/head", b"\0\xff"),
        ("bm25/pages/meta.json", b""),
    ];
    for (file, bytes) in spoil {
        assert_eq!(world.tome(&["stop"]).code, 0);
        fs::write(finder(&world).join(file), bytes).unwrap();
        fs::write(finder(&world).join("somebody-elses.txt"), "hello").unwrap();
        assert_eq!(listed(&settled(&world, "check_cache_26")), listed(&before), "{file}");
    }
}

#[test]
fn a_daemon_that_is_killed_leaves_nothing_unfound() {
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

#[test]
fn a_hand_edit_and_a_line_of_somebody_else_are_found_at_once() {
    let world = remembered();
    settled(&world, "the retry");
    let folder = finder(&world).with_file_name("memory").join("facts/project.md");
    fs::write(&folder, "# Facts\n\nThe heron nests in March.\n").unwrap();
    let found = recall(&world, "heron");
    assert_eq!(first(&found)["citation"], "memory/facts/project.md#L3", "{found}");
    let gone = recall(&world, "ninety days");
    let texts = gone["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap());
    assert!(texts.into_iter().all(|text| !text.contains("ninety days")), "{gone}");
    let copy = finder(&world).with_file_name("sessions").join("s1/messages.jsonl");
    let mut lines = fs::read_to_string(&copy).unwrap();
    lines.push_str("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a \\\"quoted\\\" walrus\"}]}\n{\"torn\":");
    fs::write(&copy, lines).unwrap();
    let asked = ["recall", "quoted walrus", "--project", "/app", "--session", "s1", "--json"];
    let found = world.tome(&asked).json();
    assert_eq!(first(&found)["citation"], "messages.jsonl#L21", "{found}");
    let shown = world.tome(&["show", "messages.jsonl#L21", "--session", "s1", "--project", "/app"]);
    assert!(shown.stdout.contains("walrus"), "{}{}", shown.stdout, shown.stderr);
}
