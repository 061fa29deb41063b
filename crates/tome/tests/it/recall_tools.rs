//! The recall tools as agents call them.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::contents::lexer_session;
use crate::recall_indexes::settled;
use crate::support::{MORNING_MS, line_with, world};

/// Calls a tool from session `s1` in the project `/app`.
fn call(world: &World, tool: &str, arguments: &Value, more: &[&str]) -> CommandResult {
    let arguments = arguments.to_string();
    let origin = ["--project", "/app", "--session", "s1", "--agent", "codex"];
    world.tome(&[&["tool", tool, &arguments], &origin[..], more].concat())
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn text(world: &World, tool: &str, arguments: Value) -> String {
    let ran = call(world, tool, &arguments, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    // Quoted text is fenced; the tool's own text is inside.
    tome_engine::strip_fence(&ran.stdout).to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn answer(world: &World, tool: &str, arguments: Value) -> Value {
    let ran = call(world, tool, &arguments, &["--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    ran.json()
}

/// A session with a detail and messages about the same subject.
fn authentication() -> World {
    let world = world();
    let event = |n: u64, text: &str| {
        let at = MORNING_MS + n * 60_000;
        line_with(&json!({"id": format!("e{n}"), "at": at, "text": text}))
    };
    world.ingest(
        &[
            event(1, "Set up the repository."),
            event(2, "We need authentication: discuss OAuth2 vs JWT."),
            event(3, "Now the changelog."),
        ]
        .concat(),
    );
    let detail = json!({
        "path": "detail/auth-design.md", "scope": "session",
        "content": "# Auth\n\nDecided to use JWT tokens with refresh rotation for authentication.\n",
    });
    let wrote = call(&world, "memory_write", &detail, &[]);
    assert_eq!(wrote.code, 0, "{}", wrote.stderr);
    world
}

#[test]
fn earlier_recall_output_is_not_found_in_place_of_its_source() {
    let world = world();
    let result = |id: &str, tool: &str| {
        line_with(&json!({
            "id": id, "kind": "tool_result", "text": "",
            "tool": {"name": tool, "input": {"query": "airship"}, "output": "The zeppelin is moored."},
        }))
    };
    world.ingest(&result("e1", "mcp__tome__recall_memory"));
    let found = answer(&world, "recall_memory", json!({"query": "moored zeppelin"}));
    assert_eq!(found["hits"], json!([]), "{found}");
    // Another server's tool of that name has output of its own.
    world.ingest(&result("e2", "mcp__harbour__recall_memory"));
    let found = text(&world, "recall_memory", json!({"query": "moored zeppelin"}));
    assert!(found.contains("The zeppelin is moored."), "{found}");
}

#[test]
fn hits_have_the_format_that_agents_expect() {
    let world = authentication();
    let output =
        text(&world, "recall_memory", json!({"query": "authentication", "scope": "detail"}));
    let (_, line) = output.split_once("\n    Citation: detail/auth-design.md#L").unwrap();
    let line: usize = line.lines().next().unwrap().parse().unwrap();
    let head = format!("\n    File: detail/auth-design.md:{line}\n    Content: ");
    let found = "Found 1 result(s) for: \"authentication\"\n\n[1] Source: detail (";
    assert!(output.starts_with(found) && output.contains(&head), "{output}");
    let detail = json!({"path": "detail/auth-design.md", "scope": "session"});
    let detail = text(&world, "memory_read", detail);
    let cited = detail.lines().nth(line - 1).unwrap();
    assert!(cited.ends_with("rotation for authentication."), "{line} of {detail}");
    let output =
        text(&world, "recall_memory", json!({"query": "authentication", "scope": "messages"}));
    let expected = "Found 1 result(s) for: \"authentication\"\n\n[1] #2 (user, ";
    let shown = ", 2026-11-15 09:32Z)\n    We need authentication: discuss OAuth2 vs JWT.";
    assert!(output.starts_with(expected) && output.contains(shown), "{output}");
    let all = answer(&world, "recall_memory", json!({"query": "authentication"}));
    let sources: Vec<&str> =
        all["hits"].as_array().unwrap().iter().map(|hit| hit["source"].as_str().unwrap()).collect();
    assert!(sources.contains(&"detail") && sources.contains(&"messages"), "{all}");
    let none = text(&world, "recall_memory", json!({"query": "quarterly dividends"}));
    assert_eq!(none.lines().next(), Some("No results found for: \"quarterly dividends\""));
}

#[test]
fn json_has_the_same_hits() {
    let world = authentication();
    let found = answer(&world, "recall_memory", json!({"query": "authentication", "limit": 3}));
    let hits = found["hits"].as_array().unwrap();
    assert!((1..=3).contains(&hits.len()), "{found}");
    for field in ["query", "tier", "behind", "more", "elsewhere", "time", "unread", "tokens"] {
        assert!(found.get(field).is_some(), "{field} in {found}");
    }
    for hit in hits {
        for field in ["source", "citation", "text", "at", "score", "also"] {
            assert!(hit.get(field).is_some(), "{field} in {hit}");
        }
    }
}

#[test]
fn a_result_stays_within_its_token_budget_and_explains_how_to_get_more() {
    let world = world();
    let lines: String = (0..40_u64)
        .map(|n| {
            let text = format!("deploy step {n}: {}", "roll the deploy forward ".repeat(9));
            let at = MORNING_MS + n * 86_400_000;
            line_with(&json!({
                "id": format!("e{n}"), "at": at, "text": text, "session_id": format!("run-{n}"),
            }))
        })
        .collect();
    world.ingest(&lines);
    let mut before = 0;
    for tokens in [200_u64, 400, 800, 8_000] {
        let arguments =
            json!({"query": "deploy", "limit": 50, "tokens": tokens, "scope": "messages"});
        let found = answer(&world, "recall_memory", arguments.clone());
        assert!(found["tokens"].as_u64().unwrap() <= tokens, "{found}");
        let shown = found["hits"].as_array().unwrap().len();
        assert!(shown > before, "{shown} hits for {tokens} tokens");
        before = shown;
        let output = text(&world, "recall_memory", arguments);
        assert_eq!(output.contains("more; cursor"), shown < 40, "{output}");
    }
    // A cursor leads through all of them, each once; but not while vectors change their order.
    settled(&world, "deploy");
    let mut seen: Vec<String> = Vec::new();
    let mut cursor = json!(0);
    while !cursor.is_null() {
        let next = json!({"query": "deploy", "limit": 9, "scope": "messages", "cursor": cursor});
        let page = answer(&world, "recall_memory", next);
        seen.extend(page["hits"].as_array().unwrap().iter().map(|hit| hit["id"].to_string()));
        cursor = page["cursor"].clone();
    }
    let past = json!({"query": "deploy", "scope": "messages", "cursor": 40});
    let past = text(&world, "recall_memory", past);
    assert!(past.contains("No more results for"), "{past}");
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (40, 40), "{seen:?}");
}

#[test]
fn limit_across_and_time_arguments_work() {
    let world = authentication();
    let none = text(&world, "recall_memory", json!({"query": "authentication", "limit": 0}));
    assert_eq!(none.lines().next(), Some("No results found for: \"authentication\""));
    let huge = answer(&world, "recall_memory", json!({"query": "authentication", "limit": 1e30}));
    assert!(!huge["hits"].as_array().unwrap().is_empty(), "{huge}");
    for across in ["session", "project", "all"] {
        let query = json!({"query": "authentication", "across": across});
        let found = answer(&world, "recall_memory", query);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{across}: {found}");
    }
    let query =
        |since: &str| json!({"query": "authentication", "scope": "messages", "since": since});
    let then = answer(&world, "recall_memory", query("2026-11-15"));
    assert_eq!(then["hits"].as_array().unwrap().len(), 1, "{then}");
    let later = answer(&world, "recall_memory", query("2026-11-15T09:33:00Z"));
    assert_eq!(later["hits"].as_array().unwrap().len(), 0, "{later}");
}

#[test]
fn pointers_lead_into_the_contents_without_text() {
    let world = world();
    world.ingest(&(lexer_session("s1", 0) + &lexer_session("s2", 90)));
    // The excerpt shares no word with the query, so only the vectors find it.
    settled(&world, "unicode identifiers");
    let found = answer(&world, "teleport_query", json!({"query": "unicode identifiers"}));
    let hits = found["hits"].as_array().unwrap();
    assert!(!hits.is_empty(), "{found}");
    for hit in hits {
        assert!(hit["preview"].as_str().unwrap().chars().count() <= 120, "{hit}");
        assert!(hit.get("text").is_none(), "{hit}");
        let (tool, field) = match hit["kind"].as_str().unwrap() {
            "node" => ("get_node", "node_id"),
            _ => ("expand_grip", "grip_id"),
        };
        answer(&world, tool, json!({field: hit["id"]}));
    }
    for level in ["segment", "grip"] {
        let query = json!({"query": "unicode identifiers", "level": level, "limit": 2});
        let found = answer(&world, "teleport_query", query);
        let hits = found["hits"].as_array().unwrap();
        assert!((1..=2).contains(&hits.len()), "{found}");
        assert!(hits.iter().all(|hit| hit["level"] == level), "{found}");
    }
    let output = text(&world, "teleport_query", json!({"query": "unicode identifiers"}));
    assert!(output.contains("get_node") && output.contains("expand_grip"), "{output}");
    let none = text(&world, "teleport_query", json!({"query": "quarterly dividends"}));
    assert!(none.starts_with("No results found for: \"quarterly dividends\""), "{none}");
}

#[test]
fn bad_arguments_are_rejected() {
    let world = authentication();
    for (tool, arguments, message) in [
        ("recall_memory", json!({}), "needs query"),
        ("recall_memory", json!({"query": " \n"}), "say what to look for"),
        ("recall_memory", json!({"query": 7}), "query must be a string"),
        ("recall_memory", json!({"query": "x", "scope": "attic"}), "contents"),
        ("recall_memory", json!({"query": "x", "limit": -1}), "from 0 up"),
        ("recall_memory", json!({"query": "x", "tokens": -1}), "from 0 up"),
        ("recall_memory", json!({"query": "x", "across": "world"}), "project"),
        ("recall_memory", json!({"query": "x", "since": "once upon a time"}), "last week"),
        ("recall_memory", json!({"query": "x", "agent": "no such name!"}), "agent"),
        ("recall_memory", json!({"query": "x", "colour": 1}), "colour"),
        (
            "recall_memory",
            json!({"query": "x", "since": "2026-11-16", "until": "2026-11-15"}),
            "later than since",
        ),
        ("teleport_query", json!({}), "needs query"),
        ("teleport_query", json!({"query": "x", "level": "decade"}), "segment"),
        ("teleport_query", json!({"query": "x", "limit": -2}), "from 0 up"),
    ] {
        let ran = call(&world, tool, &arguments, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{tool} {arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{message} in {}", ran.stderr);
    }
    // Without a session there is none to search.
    let arguments = json!({"query": "x", "across": "session"}).to_string();
    let ran = world.tome(&["tool", "recall_memory", &arguments, "--project", "/app"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("session"), "{}", ran.stderr);
}
