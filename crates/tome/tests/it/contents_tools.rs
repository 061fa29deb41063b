//! Tools over the contents: small results, from the root to the events.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::contents::lexer_session;
use crate::support::{line_with, world};

/// Calls a tool in the project `/app`, whose folder does not exist.
fn call(world: &World, tool: &str, arguments: &Value, more: &[&str]) -> CommandResult {
    let arguments = arguments.to_string();
    world.tome(&[&["tool", tool, &arguments, "--project", "/app"], more].concat())
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn answer(world: &World, tool: &str, arguments: Value) -> Value {
    let ran = call(world, tool, &arguments, &["--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    let answer = ran.json();
    let text = call(world, tool, &arguments, &[]).stdout;
    let tokens = answer["tokens"].as_u64().unwrap();
    assert!(text.contains(&format!("(about {tokens} tokens)")), "{text}");
    assert!(text.len() < 17_000, "{} bytes", text.len());
    answer
}

#[test]
fn an_agent_reaches_the_events_with_few_tokens() {
    let world = world();
    world.ingest(&(lexer_session("s1", 0) + &lexer_session("s2", 90)));
    let root = answer(&world, "get_toc_root", json!({}));
    let day = &root["entries"][0]["entries"][0]["entries"][0]["entries"][0];
    assert_eq!(day["id"], "toc:day:2026-11-15", "{root}");
    let day = answer(&world, "get_node", json!({"node_id": day["id"]}));
    assert_eq!(day["children"].as_array().unwrap().len(), 2, "{day}");
    let segment = answer(&world, "get_node", json!({"node_id": day["children"][0]["id"]}));
    let grip = answer(&world, "expand_grip", json!({"grip_id": segment["bullets"][0]["grips"][0]}));
    assert!(!grip["excerpt"].as_str().unwrap().is_empty(), "{grip}");
    assert!(!grip["events"].as_array().unwrap().is_empty(), "{grip}");
    let spent: u64 =
        [&root, &day, &segment, &grip].map(|one| one["tokens"].as_u64().unwrap()).iter().sum();
    assert!(spent < 2_500, "{spent} tokens");
}

#[test]
fn nodes_and_events_are_paginated() {
    let world = world();
    let sessions: String = (0..5).map(|n| lexer_session(&format!("s{n}"), n * 60)).collect();
    world.ingest(&sessions);
    let mut seen = Vec::new();
    let mut arguments = json!({"node_id": "toc:day:2026-11-15", "limit": 2});
    loop {
        let page = answer(&world, "browse_toc", arguments.clone());
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() <= 2, "{page}");
        seen.extend(entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()));
        if page["continuation"].is_null() {
            break;
        }
        arguments["continuation"] = page["continuation"].clone();
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.is_sorted(), "{seen:?}");
    let mut events = Vec::new();
    let mut arguments = json!({"time": "2026-11-15", "limit": 7});
    loop {
        let page = answer(&world, "get_events", arguments.clone());
        events.extend(page["events"].as_array().unwrap().clone());
        if page["continuation"].is_null() {
            break;
        }
        arguments["continuation"] = page["continuation"].clone();
    }
    assert_eq!(events.len(), 30);
    let session = answer(&world, "get_events", json!({"session_id": "s3"}));
    assert_eq!(session["events"].as_array().unwrap().len(), 6, "{session}");
    let from = json!({"from": "2026-11-15T09:31:00Z", "to": "2026-11-15T09:32:00Z"});
    assert_eq!(answer(&world, "get_events", from)["events"].as_array().unwrap().len(), 1);
}

#[test]
fn long_texts_are_truncated() {
    let world = world();
    let long = "lexer ".repeat(20_000);
    let events: String = (0..30)
        .map(|n| {
            line_with(&json!({"id": format!("e{n}"), "at": 1_794_735_000_000u64 + n, "text": long}))
        })
        .collect();
    world.ingest(&events);
    let page = answer(&world, "get_events", json!({"session_id": "s1", "limit": 30}));
    for event in page["events"].as_array().unwrap() {
        assert!(event["text"].as_str().unwrap().len() <= 504, "{event}");
    }
}

#[test]
fn an_unknown_project_has_no_contents() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let ran = world.tome(&["tool", "get_toc_root", "{}", "--project", "/nowhere"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Nothing has been recorded"), "{}", ran.stdout);
}

#[test]
fn bad_arguments_are_refused() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    for (tool, arguments, code, message) in [
        ("get_node", json!({}), 2, "node_id"),
        ("get_node", json!({"node_id": "toc:day:never"}), 2, "toc:day:2026-11-14"),
        ("get_node", json!({"node_id": "toc:day:1999-01-01"}), 4, "1999"),
        ("get_node", json!({"node_id": "toc:day:2026-11-15", "version": -1}), 2, "version"),
        ("browse_toc", json!({"node_id": "toc:year:2026", "time": "today"}), 2, "not both"),
        ("browse_toc", json!({"time": "once upon a time"}), 2, "last week"),
        ("browse_toc", json!({"continuation": "x"}), 2, "continuation"),
        ("get_events", json!({}), 2, "session_id"),
        ("get_events", json!({"from": "soon"}), 2, "RFC 3339"),
        ("get_events", json!({"time": "today", "colour": 1}), 2, "colour"),
        ("expand_grip", json!({"grip_id": "grip:x"}), 2, "grip"),
        ("expand_grip", json!({"grip_id": "grip:1:00000000000000000000000000"}), 4, "grip:1"),
    ] {
        let ran = call(&world, tool, &arguments, &[]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, ""),
            "{tool} {arguments}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(message), "{message} in {}", ran.stderr);
    }
}
