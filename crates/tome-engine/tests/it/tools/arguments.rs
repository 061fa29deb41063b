//! Schemas and arguments: everything in a schema is accepted, anything else is rejected.

use serde_json::{Map, Value, json};
use tome_engine::{ToolFailure, ToolSpec, Tools};

use super::fixture::{ToolsFixture, tools_fixture};

/// Valid calls of each tool.
fn calls() -> Vec<(&'static str, Value)> {
    let lesson = json!({"type": "semantic", "title": "Small steps win", "description": "Small steps are easy to check.",
        "content": "Take one step at a time. Check it at once. Go on only then.",
        "tags": ["#success", "#steps"]});
    let mut with_topic = lesson.clone();
    with_topic["topic"] = "working".into();
    vec![
        ("memory_show", json!({"citation": "e1"})),
        ("memory_list", json!({"scope": "session", "session_id": "s1"})),
        ("memory_view", json!({"target": "files", "scope": "session", "session_id": "s1"})),
        ("memory_read", json!({"path": "detail/a.md", "scope": "session", "session_id": "s1"})),
        (
            "memory_write",
            json!({"path": "typed.md", "content": "x", "name": "n", "description": "d",
            "type": "user", "if_version": "", "scope": "project"}),
        ),
        (
            "memory_write",
            json!({"path": "detail/b.md", "content": "x", "scope": "session", "session_id": "s1"}),
        ),
        ("memory_append", json!({"path": "facts/b.md", "entry": "- Name: Li", "summary": "name"})),
        (
            "memory_append",
            json!({"path": "detail/a.md", "entry": "x", "if_version": null,
            "scope": "session", "session_id": "s1"}),
        ),
        (
            "memory_patch",
            json!({"path": "detail/a.md", "old_str": "= one =", "new_str": "1",
            "if_version": null, "scope": "session", "session_id": "s1"}),
        ),
        (
            "memory_patch",
            json!({"path": "detail/a.md", "patches": [{"oldText": "= two =", "newText": "2"}],
            "scope": "session"}),
        ),
        (
            "memory_update",
            json!({"filename": "detail/a.md", "old_text": "= three =", "new_text": "3", "if_version": null,
            "scope": "session", "session_id": "s1"}),
        ),
        (
            "memory_delete",
            json!({"filename": "detail/b.md", "scope": "session", "session_id": "s1"}),
        ),
        ("coder_memory_store", lesson.clone()),
        ("coder_memory_store", with_topic),
        ("coder_memory_store", json!({"insights": [lesson]})),
        (
            "coder_memory_recall",
            json!({"question": "how to take small steps?", "types": ["semantic"]}),
        ),
        ("coder_memory_recall", json!({"keywords": ["small", "steps", "check"]})),
        ("memory", json!({"command": "view", "path": "/memories/plain.md", "view_range": [1, -1]})),
        ("memory", json!({"command": "create", "path": "/memories/new.md", "file_text": "x\n"})),
        (
            "memory",
            json!({"command": "str_replace", "path": "/memories/new.md", "old_str": "x", "new_str": "y"}),
        ),
        (
            "memory",
            json!({"command": "insert", "path": "/memories/new.md", "insert_line": 1, "insert_text": "z"}),
        ),
        (
            "memory",
            json!({"command": "rename", "old_path": "/memories/new.md", "new_path": "/memories/n/new.md"}),
        ),
        ("memory", json!({"command": "delete", "path": "/memories/n"})),
        ("get_toc_root", json!({})),
        ("get_node", json!({"node_id": "toc:day:2026-03-25", "version": 1})),
        ("browse_toc", json!({"node_id": "toc:year:2026", "limit": 5})),
        ("browse_toc", json!({"time": "2026-03-25", "continuation": "toc:year:2020"})),
        ("get_events", json!({"time": "2026-03-25", "limit": 5})),
        (
            "get_events",
            json!({"from": "2026-03-25T00:00:00Z", "to": "2026-03-26T00:00:00Z", "session_id": "s1",
            "continuation": null}),
        ),
        ("expand_grip", json!({"grip_id": "grip:1774432800000", "before": 1, "after": 0})),
        (
            "recall_memory",
            json!({"query": "the lexer", "scope": "messages", "limit": 3, "across": "session",
            "since": "yesterday", "until": "2026-03-26", "agent": "codex", "tokens": 400,
            "sort": "time", "cursor": 0}),
        ),
        ("memory_show", json!({"citation": "#1", "query": "lexer", "around": 1, "whole": true})),
        ("topics", json!({"query": "lexer", "id": "file:src/lexer.rs"})),
        ("file_history", json!({"path": "src/lexer.rs"})),
        (
            "teleport_query",
            json!({"query": "the lexer", "limit": 3, "level": "day", "since": "last week",
            "until": "2026-03-26T00:00:00Z", "agent": "codex"}),
        ),
    ]
}

fn with_notes() -> ToolsFixture {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "plain.md", "content": "x"}));
    let text = "= one =\n= two =\n= three =\n";
    fixture.call_text(
        "memory_write",
        json!({"path": "detail/a.md", "content": text, "scope": "session"}),
    );
    fixture
}

fn spec(name: &str) -> ToolSpec {
    Tools::specs().into_iter().find(|spec| spec.name == name).unwrap()
}

fn names(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_argument_in_a_schema_is_accepted() {
    let fixture = with_notes();
    fixture.record_event("The lexer in src/lexer.rs rejects café as an identifier, please fix it.");
    fixture.record_edit("src/lexer.rs");
    let mut used: std::collections::BTreeSet<(&str, String)> = Default::default();
    for (tool, arguments) in calls() {
        fixture.call_ok(tool, arguments.clone());
        used.extend(names(&arguments).into_iter().map(|name| (tool, name.to_owned())));
    }
    for spec in Tools::specs() {
        for name in names(&spec.schema["properties"]) {
            assert!(used.contains(&(spec.name, name.to_owned())), "{} {name}", spec.name);
        }
    }
}

#[test]
fn unknown_arguments_and_wrong_types_are_rejected() {
    let fixture = with_notes();
    for (tool, arguments) in calls() {
        let mut more = arguments.clone();
        more["nonsense"] = 1.into();
        let error = fixture.call_rejected(tool, more, ToolFailure::Invalid);
        assert!(error.starts_with("Error: unknown argument \"nonsense\": "), "{error}");
        for name in names(&arguments) {
            if arguments[name].is_null() {
                continue;
            }
            let mut other = arguments.clone();
            other[name] = json!({"deep": true});
            fixture.call_rejected(tool, other, ToolFailure::Invalid);
        }
    }
    assert_eq!(
        fixture.call_rejected(
            "memory_read",
            json!({"path": "plain.md", "x": 1}),
            ToolFailure::Invalid
        ),
        "Error: unknown argument \"x\": memory_read takes path, scope, session_id"
    );
    assert_eq!(
        fixture.call_rejected(
            "memory",
            json!({"command": "view", "path": "/memories", "x": 1}),
            ToolFailure::Invalid
        ),
        "Error: unknown argument \"x\": memory view takes command, path, view_range"
    );
}

#[test]
fn missing_required_arguments_are_named() {
    let fixture = with_notes();
    for (tool, arguments) in calls() {
        for name in spec(tool).schema["required"].as_array().into_iter().flatten() {
            let mut fewer: Map<String, Value> = arguments.as_object().unwrap().clone();
            fewer.remove(name.as_str().unwrap()).unwrap();
            let error = fixture.call_rejected(tool, fewer.into(), ToolFailure::Invalid);
            assert_eq!(error, format!("Error: {tool} needs {}", name.as_str().unwrap()));
        }
    }
    let error =
        fixture.call_rejected("memory_patch", json!({"path": "plain.md"}), ToolFailure::Invalid);
    assert_eq!(error, "Error: memory_patch needs patches, or old_str and new_str");
    let error = fixture.call_rejected("coder_memory_recall", json!({}), ToolFailure::Invalid);
    assert_eq!(error, "Error: coder_memory_recall needs a question or keywords");
}

#[test]
fn arguments_have_aliases() {
    let fixture = with_notes();
    fixture.call_text("memory_write", json!({"filename": "b.md", "content": "one"}));
    fixture.call_text("memory_read", json!({"filename": "b.md"}));
    fixture.call_text("memory_append", json!({"filename": "b.md", "entry": "x"}));
    fixture
        .call_text("memory_patch", json!({"filename": "b.md", "old_text": "one", "new_text": "1"}));
    fixture.call_text(
        "memory_patch",
        json!({"path": "b.md", "patches": [{"old_str": "1", "new_str": "2"}]}),
    );
    fixture.call_text("memory_update", json!({"path": "b.md", "old_str": "2", "new_str": "3"}));
    fixture.call_text("memory_read", json!({"path": "b.md", "filename": "b.md"}));
    let both = json!({"path": "b.md", "filename": "c.md"});
    assert_eq!(
        fixture.call_rejected("memory_read", both, ToolFailure::Invalid),
        "Error: path and filename are aliases with different values: pass only path"
    );
    fixture.call_text("memory_delete", json!({"path": "b.md"}));
}

#[test]
fn invalid_values_are_rejected_with_advice() {
    let fixture = with_notes();
    for (tool, arguments, expected) in [
        ("memory_read", json!({"path": 1}), "Error: path must be a string, not a number"),
        (
            "memory_list",
            json!({"scope": "all"}),
            "Error: unknown scope \"all\": use session, project or coder",
        ),
        (
            "memory_list",
            json!({"session_id": "s1"}),
            "Error: session_id is only valid with scope session",
        ),
        (
            "memory_view",
            json!({"target": "tree"}),
            "Error: unknown target \"tree\": use index or files",
        ),
        (
            "memory_patch",
            json!({"path": "a.md", "patches": "x"}),
            "Error: patches must be an array of objects, not a string",
        ),
        (
            "memory_patch",
            json!({"path": "a.md", "patches": [{"oldText": "x"}]}),
            "Error: patches[0] needs newText",
        ),
        (
            "memory_patch",
            json!({"path": "a.md", "patches": [], "old_str": "x"}),
            "Error: give either patches or old_str and new_str, not both",
        ),
        (
            "coder_memory_store",
            json!({"insights": [{}, {}, {}, {}]}),
            "Error: insights has 4 items: the limit is 3 per call",
        ),
        (
            "memory",
            json!({"command": "view", "path": "/memories", "view_range": [1]}),
            "Error: view_range must be two whole numbers, [start, end], not an array",
        ),
    ] {
        assert_eq!(fixture.call_rejected(tool, arguments, ToolFailure::Invalid), expected);
    }
    for text in ["", "[]", "\"x\"", "null", "{", "{\"path\": }"] {
        let answer = fixture.tools.call("memory_read", text, &fixture.caller).unwrap();
        assert_eq!(answer.failure, Some(ToolFailure::Invalid), "{text:?}");
    }
    assert!(fixture.tools.call("memory_forget", "{}", &fixture.caller).is_none());
}

#[test]
fn all_schemas_together_fit_into_3000_tokens() {
    let cost = |spec: &ToolSpec| {
        spec.name.len() + spec.description.chars().count() + spec.schema.to_string().chars().count()
    };
    let chars: usize = Tools::specs().iter().map(cost).sum();
    assert!((chars as f64) / 3.5 < 3_000.0, "{chars} characters");
    for spec in Tools::specs() {
        assert_eq!(spec.schema["type"], "object");
        assert_eq!(spec.schema["additionalProperties"], false);
        assert!(
            ["recall", "notes", "coder", "contents", "topics", "anthropic"].contains(&spec.toolset)
        );
    }
}
