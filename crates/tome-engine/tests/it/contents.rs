//! The contents over an engine: rebuilds, and events at unusual times.

use serde_json::{Value, json};
use tome_contents::{ContentsEntry, ContentsQuery, Depth, LocatedNode};
use tome_home::StoreMode;

use crate::engine_fixture::{EngineFixture, MINUTE_MS, ROOT, SUNDAY_MS};

/// A complete session about the lexer: prompt, edit, command and answer; the minutes count from the
/// morning of Sunday, 2026-03-15.
pub fn lexer_session(session: &str, minute: u64) -> Vec<Value> {
    let step = |offset: u64, fields: Value| {
        let minute = minute + offset;
        let mut event = json!({
            "session_id": session, "at": SUNDAY_MS + minute * MINUTE_MS,
            "id": format!("{session}-{minute}"),
        });
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        event
    };
    let tool = |name: &str, input: Value, output: &str| {
        let tool = json!({"name": name, "input": input, "output": output});
        json!({"kind": "tool_result", "text": "", "tool": tool})
    };
    let edit = json!({
        "file_path": "src/lexer.rs", "old_string": "is_ascii_alphabetic",
        "new_string": "is_xid_start",
    });
    let command = json!({"command": "cargo test lexer"});
    let request =
        "The lexer rejects identifiers such as café. Please make it accept unicode identifiers.";
    let answer = "The lexer now follows the XID rules. I decided against NFKC normalisation because spans would no longer match the source.";
    vec![
        step(0, json!({"kind": "session_start", "text": ""})),
        step(1, json!({"text": request})),
        step(2, tool("Edit", edit, "The file src/lexer.rs has been updated.")),
        step(3, tool("Bash", command, "test result: ok. 14 passed; 0 failed")),
        step(4, json!({"kind": "assistant_stop", "text": answer})),
        step(5, json!({"kind": "session_end", "text": ""})),
    ]
}

/// Every node with all its fields.
fn all_nodes(fixture: &EngineFixture) -> Vec<LocatedNode> {
    let contents = fixture.engine.contents();
    let query = ContentsQuery {
        project: None,
        agents: Vec::new(),
        depth: Depth::Levels(1),
        below_max: 1_000,
    };
    let ids = |entries: &[ContentsEntry]| -> Vec<String> {
        entries.iter().map(|entry| entry.id.as_str().to_owned()).collect()
    };
    let mut nodes: Vec<LocatedNode> = Vec::new();
    let mut left = ids(&contents.list_root(&query).unwrap().entries);
    while let Some(id) = left.pop() {
        for node in contents.find_node(&id, None, None).unwrap() {
            left.extend(ids(&node.children));
            nodes.push(node);
        }
    }
    nodes.sort_by_key(|found| (found.node.id.as_str().to_owned(), found.project.clone()));
    nodes.dedup();
    nodes
}

/// Verifies all contents; returns the number of sources of bullets.
fn verify(fixture: &EngineFixture) -> u64 {
    let reports = fixture.engine.contents().verify(None).into_iter();
    let grips = reports.map(|store| {
        let report = store.outcome.unwrap();
        assert!(report.is_ok(), "{report:?}");
        report.grips
    });
    grips.sum()
}

#[test]
fn a_rebuild_changes_nothing() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let fixture = EngineFixture::with_mode(mode);
        fixture.ingest(lexer_session("s2", 200));
        fixture.ingest(lexer_session("s1", 0));
        fixture.ingest([json!({"id": "other", "cwd": "/other", "session_id": "s9"})]);
        let before = all_nodes(&fixture);
        assert!(before.len() >= 11, "{before:?}");
        fixture.engine.contents().rebuild(None, |store| {
            let report = store.outcome.unwrap();
            assert_eq!((report.nodes, report.removed), (0, 0), "{report:?}");
        });
        assert!(all_nodes(&fixture) == before, "{mode:?}");
        verify(&fixture);
    }
}

#[test]
fn simultaneous_unordered_and_future_events_are_handled() {
    let fixture = EngineFixture::new();
    let at = |id: &str, at: u64| {
        let text = format!("Rename the token kind {id} in src/lexer.rs");
        json!({"id": id, "at": at, "text": text})
    };
    fixture.ingest((0..20).map(|n| at(&format!("same{n}"), SUNDAY_MS)));
    fixture.ingest([at("b", SUNDAY_MS + 2), at("a", SUNDAY_MS + 1)]);
    fixture.ingest([at("future", 4_102_444_800_000)]);
    let events = |id: &str| {
        let found = fixture.engine.contents().find_node(id, None, Some(ROOT)).unwrap();
        found[0].node.events
    };
    assert_eq!(events("toc:day:2026-03-15"), 22);
    assert_eq!(events("toc:day:2100-01-01"), 1);
    let huge = "x".repeat(5 * 1024 * 1024);
    fixture.ingest([json!({
        "id": "huge", "session_id": "s2", "kind": "tool_result", "text": "", "at": SUNDAY_MS,
        "tool": {"name": "Bash", "input": {"command": "cat big"}, "output": huge},
    })]);
    assert_eq!(events("toc:day:2026-03-15"), 23);
    assert!(verify(&fixture) > 0);
}
