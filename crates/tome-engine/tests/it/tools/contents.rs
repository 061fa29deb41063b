//! The tools over the contents: small results, from the root to the events.

use serde_json::{Value, json};
use tome_engine::{Caller, ToolFailure};

use crate::contents::lexer_session;
use crate::engine_fixture::{EngineFixture, SUNDAY_MS};

/// The JSON of a call that must succeed with a text of limited size.
#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn answer(fixture: &EngineFixture, tool: &str, arguments: Value) -> Value {
    let answer = fixture.call_tool(tool, &arguments);
    assert_eq!(answer.failure, None, "{tool} {arguments}: {}", answer.text);
    let tokens = answer.json["tokens"].as_u64().unwrap();
    assert!(answer.text.contains(&format!("(about {tokens} tokens)")), "{}", answer.text);
    assert!(answer.text.len() < 17_000, "{} bytes", answer.text.len());
    answer.json
}

#[test]
fn an_agent_reaches_the_events_with_few_tokens() {
    let fixture = EngineFixture::new();
    fixture.ingest(lexer_session("s1", 0));
    fixture.ingest(lexer_session("s2", 90));
    let root = answer(&fixture, "get_toc_root", json!({}));
    let day = &root["entries"][0]["entries"][0]["entries"][0]["entries"][0];
    assert_eq!(day["id"], "toc:day:2026-03-15", "{root}");
    let day = answer(&fixture, "get_node", json!({"node_id": day["id"]}));
    assert_eq!(day["children"].as_array().unwrap().len(), 2, "{day}");
    let segment = answer(&fixture, "get_node", json!({"node_id": day["children"][0]["id"]}));
    let grip = json!({"grip_id": segment["bullets"][0]["grips"][0]});
    let grip = answer(&fixture, "expand_grip", grip);
    assert!(!grip["excerpt"].as_str().unwrap().is_empty(), "{grip}");
    assert!(!grip["events"].as_array().unwrap().is_empty(), "{grip}");
    let spent: u64 =
        [&root, &day, &segment, &grip].map(|one| one["tokens"].as_u64().unwrap()).iter().sum();
    assert!(spent < 2_500, "{spent} tokens");
}

#[test]
fn nodes_and_events_are_paginated() {
    let fixture = EngineFixture::new();
    for n in 0..5 {
        fixture.ingest(lexer_session(&format!("s{n}"), n * 60));
    }
    /// All items of all pages, and the size of the largest page.
    fn pages(
        fixture: &EngineFixture,
        tool: &str,
        mut arguments: Value,
        list: &str,
    ) -> (Vec<Value>, usize) {
        let (mut all, mut largest) = (Vec::new(), 0);
        loop {
            let page = answer(fixture, tool, arguments.clone());
            let items = page[list].as_array().unwrap();
            largest = largest.max(items.len());
            all.extend(items.clone());
            if page["continuation"].is_null() {
                return (all, largest);
            }
            arguments["continuation"] = page["continuation"].clone();
        }
    }
    let arguments = json!({"node_id": "toc:day:2026-03-15", "limit": 2});
    let (entries, largest) = pages(&fixture, "browse_toc", arguments, "entries");
    let ids: Vec<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), largest), (5, 2), "{ids:?}");
    assert!(ids.is_sorted(), "{ids:?}");
    let arguments = json!({"time": "2026-03-15", "limit": 7});
    assert_eq!(pages(&fixture, "get_events", arguments, "events").0.len(), 30);
    let session = answer(&fixture, "get_events", json!({"session_id": "s3"}));
    assert_eq!(session["events"].as_array().unwrap().len(), 6, "{session}");
    let minute = json!({"from": "2026-03-15T09:31:00Z", "to": "2026-03-15T09:32:00Z"});
    assert_eq!(answer(&fixture, "get_events", minute)["events"].as_array().unwrap().len(), 1);
}

#[test]
fn long_texts_are_truncated() {
    let fixture = EngineFixture::new();
    let long = "lexer ".repeat(20_000);
    fixture
        .ingest((0..30).map(|n| json!({"id": format!("e{n}"), "at": SUNDAY_MS + n, "text": long})));
    let page = answer(&fixture, "get_events", json!({"session_id": "s1", "limit": 30}));
    let events = page["events"].as_array().unwrap();
    assert!(!events.is_empty(), "{page}");
    for event in events {
        assert!(event["text"].as_str().unwrap().len() <= 504, "{event}");
    }
}

#[test]
fn an_unknown_project_has_no_contents() {
    let fixture = EngineFixture::new();
    fixture.ingest(lexer_session("s1", 0));
    let caller = Caller { cwd: Some("/nowhere".to_owned()), ..Caller::default() };
    let answer = fixture.engine.tools().unwrap().call("get_toc_root", "{}", &caller).unwrap();
    assert_eq!(answer.failure, None, "{}", answer.text);
    assert!(answer.text.contains("Nothing has been recorded"), "{}", answer.text);
}

#[test]
fn bad_arguments_are_rejected() {
    use ToolFailure::{Invalid, NotFound};
    let fixture = EngineFixture::new();
    fixture.ingest(lexer_session("s1", 0));
    for (tool, arguments, failure, message) in [
        ("get_node", json!({}), Invalid, "node_id"),
        ("get_node", json!({"node_id": "toc:day:never"}), Invalid, "toc:day:2026-11-14"),
        ("get_node", json!({"node_id": "toc:day:1999-01-01"}), NotFound, "1999"),
        ("get_node", json!({"node_id": "toc:day:2026-03-15", "version": -1}), Invalid, "version"),
        ("browse_toc", json!({"node_id": "toc:year:2026", "time": "today"}), Invalid, "not both"),
        ("browse_toc", json!({"time": "once upon a time"}), Invalid, "last week"),
        ("browse_toc", json!({"continuation": "x"}), Invalid, "continuation"),
        ("get_events", json!({}), Invalid, "session_id"),
        ("get_events", json!({"from": "soon"}), Invalid, "RFC 3339"),
        ("get_events", json!({"time": "today", "colour": 1}), Invalid, "colour"),
        ("expand_grip", json!({"grip_id": "grip:x"}), Invalid, "grip"),
        (
            "expand_grip",
            json!({"grip_id": "grip:1:00000000000000000000000000"}),
            NotFound,
            "grip:1",
        ),
    ] {
        let answer = fixture.call_tool(tool, &arguments);
        assert_eq!(answer.failure, Some(failure), "{tool} {arguments}: {}", answer.text);
        assert!(answer.text.contains(message), "{message} in {}", answer.text);
    }
}
