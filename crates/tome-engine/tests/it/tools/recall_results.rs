//! The results of the recall tools: fields, budgets, pages, pointers, arguments.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tome_engine::ToolFailure;

use crate::contents::lexer_session;
use crate::engine_fixture::{EngineFixture, MINUTE_MS, SUNDAY_MS};

const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn text(fixture: &EngineFixture, tool: &str, arguments: Value) -> String {
    let answer = fixture.call_tool(tool, &arguments);
    assert_eq!(answer.failure, None, "{tool} {arguments}: {}", answer.text);
    answer.text
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn answer(fixture: &EngineFixture, tool: &str, arguments: Value) -> Value {
    let answer = fixture.call_tool(tool, &arguments);
    assert_eq!(answer.failure, None, "{tool} {arguments}: {}", answer.text);
    answer.json
}

fn hits(answer: &Value) -> &[Value] {
    answer["hits"].as_array().unwrap()
}

/// A session with a detail and messages about the same subject.
fn authentication() -> EngineFixture {
    let fixture = EngineFixture::new();
    let texts = [
        "Set up the repository.",
        "We need authentication: discuss OAuth2 vs JWT.",
        "Now the changelog.",
    ];
    fixture.ingest((1_u64..).zip(texts).map(
        |(n, text)| json!({"id": format!("e{n}"), "at": SUNDAY_MS + n * MINUTE_MS, "text": text}),
    ));
    let detail = json!({
        "path": "detail/auth-design.md", "scope": "session",
        "content": "# Auth\n\nDecided to use JWT tokens with refresh rotation for authentication.\n",
    });
    text(&fixture, "memory_write", detail);
    fixture
}

#[test]
fn earlier_recall_output_is_not_found_in_place_of_its_source() {
    let fixture = EngineFixture::new();
    let result = |id: &str, tool: &str| {
        json!({
            "id": id, "kind": "tool_result", "text": "",
            "tool": {"name": tool, "input": {"query": "airship"}, "output": "The zeppelin is moored."},
        })
    };
    fixture.ingest([result("e1", "mcp__tome__recall_memory")]);
    let found = answer(&fixture, "recall_memory", json!({"query": "moored zeppelin"}));
    assert_eq!(found["hits"], json!([]), "{found}");
    // Another server's tool of that name has output of its own.
    fixture.ingest([result("e2", "mcp__harbour__recall_memory")]);
    let found = text(&fixture, "recall_memory", json!({"query": "moored zeppelin"}));
    assert!(found.contains("The zeppelin is moored."), "{found}");
}

#[test]
fn json_has_the_same_hits() {
    let fixture = authentication();
    let found = answer(&fixture, "recall_memory", json!({"query": "authentication", "limit": 3}));
    assert!((1..=3).contains(&hits(&found).len()), "{found}");
    for field in ["query", "tier", "behind", "more", "elsewhere", "time", "unread", "tokens"] {
        assert!(found.get(field).is_some(), "{field} in {found}");
    }
    for hit in hits(&found) {
        for field in ["source", "citation", "text", "at", "score", "also"] {
            assert!(hit.get(field).is_some(), "{field} in {hit}");
        }
    }
}

#[test]
fn a_result_stays_within_its_token_budget_and_explains_how_to_get_more() {
    let fixture = EngineFixture::new();
    fixture.ingest((0..40_u64).map(|n| {
        let text = format!("deploy step {n}: {}", "roll the deploy forward ".repeat(9));
        let at = SUNDAY_MS - (40 - n) * DAY_MS;
        json!({"id": format!("e{n}"), "at": at, "text": text, "session_id": format!("run-{n}")})
    }));
    // Vectors that are still missing would change the order between two pages.
    fixture.search_indexed(&fixture.query("deploy"));
    let mut before = 0;
    for tokens in [200_u64, 400, 800, 8_000] {
        let arguments =
            json!({"query": "deploy", "limit": 50, "tokens": tokens, "scope": "messages"});
        let found = fixture.call_tool("recall_memory", &arguments);
        assert_eq!(found.failure, None, "{}", found.text);
        assert!(found.json["tokens"].as_u64().unwrap() <= tokens, "{}", found.text);
        let shown = hits(&found.json).len();
        assert!(shown > before, "{shown} hits for {tokens} tokens");
        before = shown;
        assert_eq!(found.text.contains("more; cursor"), shown < 40, "{}", found.text);
    }
    // A cursor leads through all of them, each once.
    let mut seen: Vec<String> = Vec::new();
    let mut cursor = json!(0);
    while !cursor.is_null() {
        let next = json!({"query": "deploy", "limit": 9, "scope": "messages", "cursor": cursor});
        let page = answer(&fixture, "recall_memory", next);
        seen.extend(hits(&page).iter().map(|hit| hit["id"].to_string()));
        cursor = page["cursor"].clone();
    }
    let past = json!({"query": "deploy", "scope": "messages", "cursor": 40});
    let past = text(&fixture, "recall_memory", past);
    assert!(past.contains("No more results for"), "{past}");
    let distinct: BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (40, 40), "{seen:?}");
}

#[test]
fn limit_across_and_time_arguments_work() {
    let fixture = authentication();
    let none = fixture.call_tool("recall_memory", &json!({"query": "authentication", "limit": 0}));
    assert_eq!(none.failure, Some(ToolFailure::Invalid), "{}", none.text);
    let huge = answer(&fixture, "recall_memory", json!({"query": "authentication", "limit": 1e30}));
    assert!(!hits(&huge).is_empty(), "{huge}");
    for across in ["session", "project", "all"] {
        let query = json!({"query": "authentication", "across": across});
        let found = answer(&fixture, "recall_memory", query);
        assert!(!hits(&found).is_empty(), "{across}: {found}");
    }
    let query =
        |since: &str| json!({"query": "authentication", "scope": "messages", "since": since});
    let then = answer(&fixture, "recall_memory", query("2026-03-15"));
    assert_eq!(hits(&then).len(), 1, "{then}");
    let later = answer(&fixture, "recall_memory", query("2026-03-15T09:33:00Z"));
    assert_eq!(hits(&later).len(), 0, "{later}");
}

#[test]
fn pointers_lead_into_the_contents_without_text() {
    let fixture = EngineFixture::new();
    fixture.ingest(lexer_session("s1", 0));
    fixture.ingest(lexer_session("s2", 90));
    // The excerpt shares no word with the query, so only the vectors find it.
    fixture.search_indexed(&fixture.query("unicode identifiers"));
    let found = answer(&fixture, "teleport_query", json!({"query": "unicode identifiers"}));
    assert!(!hits(&found).is_empty(), "{found}");
    for hit in hits(&found) {
        assert!(hit["preview"].as_str().unwrap().chars().count() <= 120, "{hit}");
        assert!(hit.get("text").is_none(), "{hit}");
        let (tool, field) = match hit["kind"].as_str().unwrap() {
            "node" => ("get_node", "node_id"),
            _ => ("expand_grip", "grip_id"),
        };
        answer(&fixture, tool, json!({field: hit["id"]}));
    }
    for level in ["segment", "grip"] {
        let query = json!({"query": "unicode identifiers", "level": level, "limit": 2});
        let found = answer(&fixture, "teleport_query", query);
        assert!((1..=2).contains(&hits(&found).len()), "{found}");
        assert!(hits(&found).iter().all(|hit| hit["level"] == level), "{found}");
    }
    let output = text(&fixture, "teleport_query", json!({"query": "unicode identifiers"}));
    assert!(output.contains("get_node") && output.contains("expand_grip"), "{output}");
    let none = text(&fixture, "teleport_query", json!({"query": "quarterly dividends"}));
    assert!(none.starts_with("No results found for: \"quarterly dividends\""), "{none}");
}

#[test]
fn unusual_queries_are_answered() {
    let fixture = authentication();
    let long = "authentication ".repeat(7_000);
    for query in [
        "the of and",
        "?!…",
        "[(*",
        "a.b*",
        "\\",
        "\"unfinished",
        "日本語",
        "--",
        "'",
        "authentication\0jwt",
        long.as_str(),
    ] {
        let found = answer(&fixture, "recall_memory", json!({"query": query}));
        assert!(found["hits"].is_array(), "{query}: {found}");
    }
    // Nothing has been recorded at all.
    let empty = EngineFixture::new();
    let found = answer(&empty, "recall_memory", json!({"query": "anything"}));
    assert_eq!(found["hits"], json!([]));
}

#[test]
fn bad_arguments_are_rejected() {
    let fixture = authentication();
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
        let answer = fixture.call_tool(tool, &arguments);
        assert_eq!(answer.failure, Some(ToolFailure::Invalid), "{arguments}: {}", answer.text);
        assert!(answer.text.contains(message), "{message} in {}", answer.text);
    }
    // Without a session there is none to search.
    let arguments = json!({"query": "x", "across": "session"});
    let answer = fixture.call_tool_from(None, "recall_memory", &arguments);
    assert_eq!(answer.failure, Some(ToolFailure::Invalid), "{}", answer.text);
    assert!(answer.text.contains("session"), "{}", answer.text);
}
