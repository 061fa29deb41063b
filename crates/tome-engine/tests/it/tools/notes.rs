//! The note tools, in both forms of arguments.

use serde_json::json;
use tome_engine::ToolFailure;

use super::fixture::{files_in, tools_fixture};

#[test]
fn reading_a_missing_notebook_does_not_create_it() {
    let fixture = tools_fixture();
    let before = files_in(&fixture.top());
    assert_eq!(fixture.call_text("memory_list", json!({})), "[]");
    assert_eq!(
        fixture.call_text("memory_view", json!({"target": "files"})),
        "(no memory files yet)"
    );
    assert!(fixture.call_text("memory_view", json!({})).starts_with("# Memory"));
    fixture.call_rejected("memory_read", json!({"path": "x.md"}), ToolFailure::NotFound);
    fixture.call_text("memory_list", json!({"scope": "session"}));
    fixture.call_text("memory_list", json!({"scope": "coder"}));
    assert!(files_in(&fixture.top()) == before);
}

#[test]
fn typed_notes_answer_with_sentences() {
    let fixture = tools_fixture();
    let write = fixture.call_ok(
        "memory_write",
        json!({"filename": "user_prefs.md", "name": "User Preferences",
            "description": "Editor settings", "memory_type": "user", "content": "- vim keys"}),
    );
    assert_eq!(write.text, "Memory saved: user_prefs.md");
    assert_eq!(write.json["result"], "Memory saved: user_prefs.md");
    assert_eq!(write.json["success"], true);
    assert_eq!(write.json["path"], "user_prefs.md");
    assert_eq!(
        fixture.call_text("memory_view", json!({"target": "files"})),
        "  user_prefs.md  [user]  Editor settings  (updated: 2026-03-25)"
    );
    let index = fixture.call_text("memory_view", json!({"target": "index"}));
    assert!(index.contains("## User\n- [User Preferences](user_prefs.md) - Editor settings"));
    let text = fixture.call_text("memory_read", json!({"filename": "user_prefs.md"}));
    assert!(text.starts_with("---\n") && text.contains("- vim keys"), "{text}");
    assert_eq!(
        fixture.call_text(
            "memory_update",
            json!({"filename": "user_prefs.md", "old_text": "vim keys", "new_text": "dark theme"})
        ),
        "Memory updated: user_prefs.md"
    );
    assert!(fixture.note_text("user_prefs.md").contains("- dark theme"));
    assert_eq!(
        fixture.call_text("memory_delete", json!({"filename": "user_prefs.md"})),
        "Memory deleted: user_prefs.md"
    );
    assert_eq!(
        fixture.call_text("memory_view", json!({"target": "files"})),
        "(no memory files yet)"
    );
}

#[test]
fn typed_notes_report_errors_in_the_documented_wording() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "user_prefs.md", "content": "vim"}));
    let rejected = |tool, arguments, failure| fixture.call_rejected(tool, arguments, failure);
    assert_eq!(
        rejected("memory_read", json!({"filename": "x.md"}), ToolFailure::NotFound),
        "Error: Memory file 'x.md' not found."
    );
    assert_eq!(
        rejected("memory_read", json!({"filename": "user_pref.md"}), ToolFailure::NotFound),
        "Error: Memory file 'user_pref.md' not found.\nDid you mean: user_prefs.md"
    );
    assert_eq!(
        rejected("memory_delete", json!({"filename": "x.md"}), ToolFailure::NotFound),
        "Error: Memory file 'x.md' not found."
    );
    assert_eq!(
        rejected(
            "memory_update",
            json!({"filename": "user_prefs.md", "old_text": "emacs", "new_text": "vi"}),
            ToolFailure::NotFound
        ),
        "Error: Text not found in user_prefs.md"
    );
    assert_eq!(
        rejected("memory_delete", json!({"filename": "MEMORY.md"}), ToolFailure::Invalid),
        "Error: Cannot delete the index file."
    );
    assert_eq!(
        rejected(
            "memory_write",
            json!({"filename": "a.md", "name": "a", "description": "b", "memory_type": "idea",
                "content": "c"}),
            ToolFailure::Invalid
        ),
        "Error: Invalid type 'idea'. Must be one of: user, feedback, project, reference"
    );
    assert_eq!(
        rejected("memory_read", json!({"filename": "../x.md"}), ToolFailure::Invalid),
        "Error: Path escapes memory directory: ../x.md"
    );
    assert_eq!(
        rejected(
            "memory_write",
            json!({"path": "a.md", "content": "", "name": "a"}),
            ToolFailure::Invalid
        ),
        "Error: name without description and type: a typed note needs name, description and type, \
         a plain one none of them"
    );
    let typed = json!({"path": "facts/a.md", "name": "a", "description": "b", "type": "user",
        "content": "c"});
    assert!(
        rejected("memory_write", typed, ToolFailure::Invalid).contains("facts/ has no typed notes")
    );
}

#[test]
fn plain_notes_answer_with_json() {
    let fixture = tools_fixture();
    let write = fixture.call_ok(
        "memory_write",
        json!({"path": "facts/user.md", "content": "# User\n\n- Name: Zhang San\n"}),
    );
    assert_eq!(write.text, write.json.to_string());
    assert!(write.text.starts_with("{\"success\":true,\"path\":\"facts/user.md\",\"size\":"));
    assert_eq!(write.json["version"].as_str().unwrap().len(), 12);
    let append = fixture.call_ok(
        "memory_append",
        json!({"path": "episodes/2026-03.md", "entry": "## Fixed the logger\n- Lesson: $1 & $&",
            "summary": "logger fix"}),
    );
    assert_eq!(append.json["success"], true);
    let patch = fixture.call_ok(
        "memory_patch",
        json!({"path": "facts/user.md",
            "patches": [{"oldText": "Zhang San", "newText": "$& $1"}, {"old_text": "Name", "new_text": "Called"}]}),
    );
    assert_eq!(patch.json["success"], true);
    assert_eq!(patch.json["appliedCount"], 2);
    assert!(fixture.note_text("facts/user.md").contains("- Called: $& $1"));
    let patch = fixture.call_ok(
        "memory_patch",
        json!({"path": "facts/user.md", "old_str": "$& $1", "new_str": "Li Si"}),
    );
    assert_eq!(patch.json["appliedCount"], 1);
    let list = fixture.call_ok("memory_list", json!({})).json;
    let paths: Vec<_> = list.as_array().unwrap().iter().map(|note| &note["path"]).collect();
    assert_eq!(paths, ["episodes/2026-03.md", "facts/user.md"]);
    assert_eq!(list[0]["summary"], "logger fix");
    assert_eq!(list[1]["size"], fixture.note_text("facts/user.md").len());
}

#[test]
fn a_patch_must_match_exactly_once() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one\ntwo\none\n"}));
    let patch = |old: &str| {
        json!({"path": "a.md", "patches": [
        {"oldText": "two", "newText": "2"}, {"oldText": old, "newText": "1"}]})
    };
    let error = fixture.call_rejected("memory_patch", patch("three"), ToolFailure::NotFound);
    assert!(error.starts_with("Error: String not found in a.md"), "{error}");
    let error = fixture.call_rejected("memory_patch", patch("one"), ToolFailure::Invalid);
    assert!(error.starts_with("Error: String appears multiple times in a.md"), "{error}");
    assert!(error.contains("provide more context"), "{error}");
}

#[test]
fn writes_with_a_stale_version_conflict() {
    let fixture = tools_fixture();
    let first = fixture.call_ok("memory_write", json!({"path": "a.md", "content": "one\n"})).json;
    let version = &first["version"];
    fixture.call_text(
        "memory_write",
        json!({"path": "a.md", "content": "two\n", "if_version": version}),
    );
    for (tool, mut arguments) in [
        ("memory_write", json!({"content": "three\n"})),
        ("memory_append", json!({"entry": "three"})),
        ("memory_patch", json!({"old_str": "two", "new_str": "three"})),
        ("memory_update", json!({"old_text": "two", "new_text": "three"})),
    ] {
        arguments["path"] = "a.md".into();
        arguments["if_version"] = version.clone();
        let error = fixture.call_rejected(tool, arguments, ToolFailure::Conflict);
        assert!(error.contains("read it again"), "{error}");
    }
    let there = json!({"path": "a.md", "content": "x", "if_version": ""});
    fixture.call_rejected("memory_write", there, ToolFailure::Conflict);
    let version = fixture.call_ok("memory_read", json!({"path": "a.md"})).json["version"].clone();
    let update = |old: &str| json!({"path": "a.md", "old_text": old, "new_text": "three", "if_version": version});
    fixture.call_rejected("memory_update", update("four"), ToolFailure::NotFound);
    fixture.call_text("memory_update", update("two"));
    assert_eq!(fixture.note_text("a.md"), "three\n");
}

#[test]
fn a_long_note_is_truncated_between_characters() {
    let fixture = tools_fixture();
    let long = "ä".repeat(50_001);
    fixture.call_text("memory_write", json!({"path": "long.md", "content": long}));
    let read = fixture.call_ok("memory_read", json!({"path": "long.md"}));
    assert_eq!(read.json["truncated"], true);
    assert_eq!(read.json["content"].as_str().unwrap(), "ä".repeat(50_000));
    let last = read.text.lines().last().unwrap();
    let chars = read.json["characters"].as_u64().unwrap();
    assert!(chars > 50_000);
    assert_eq!(last, format!("… (first 50000 of {chars} characters)"));
    let short = fixture.call_ok("memory_write", json!({"path": "s.md", "content": "ä"}));
    assert_eq!(short.failure, None);
    assert_eq!(fixture.call_ok("memory_read", json!({"path": "s.md"})).json["truncated"], false);
}

#[test]
fn the_index_can_be_read_but_not_written() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    let index = fixture.call_text("memory_view", json!({}));
    assert_eq!(fixture.call_text("memory_read", json!({"path": "MEMORY.md"})), index);
    for (tool, arguments) in [
        ("memory_write", json!({"path": "MEMORY.md", "content": "x"})),
        ("memory_append", json!({"path": "MEMORY.md", "entry": "x"})),
        ("memory_patch", json!({"path": "MEMORY.md", "old_str": "Memory", "new_str": "x"})),
        ("memory_update", json!({"path": "MEMORY.md", "old_text": "Memory", "new_text": "x"})),
        ("memory_delete", json!({"path": "MEMORY.md"})),
    ] {
        fixture.call_rejected(tool, arguments, ToolFailure::Invalid);
    }
}

#[test]
fn scopes_have_separate_notebooks() {
    let fixture = tools_fixture();
    let write = |scope: &str, path: &str| {
        fixture.call_text("memory_write", json!({"path": path, "content": scope, "scope": scope}));
    };
    write("project", "detail.md");
    write("session", "detail/design.md");
    fixture.call_text(
        "memory_write",
        json!({"path": "detail/other.md", "content": "x", "scope": "session", "session_id": "s2"}),
    );
    let listed = |arguments| {
        let list = fixture.call_ok("memory_list", arguments).json;
        let notes = list.as_array().unwrap().clone();
        notes.iter().map(|note| note["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(json!({})), ["detail.md"]);
    assert!(listed(json!({"scope": "session"})).contains(&"detail/design.md".to_owned()));
    let second = listed(json!({"scope": "session", "session_id": "s2"}));
    assert!(second.contains(&"detail/other.md".to_owned()));
    assert!(!second.contains(&"detail/design.md".to_owned()));
    let overview =
        fixture.call_text("memory_read", json!({"path": "overview.md", "scope": "session"}));
    assert!(overview.contains("## "), "{overview}");
}

#[test]
fn the_history_records_the_author() {
    let mut fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    fixture.caller.agent = None;
    fixture.caller.command = Some("tome memory append".into());
    fixture.call_text("memory_append", json!({"path": "a.md", "entry": "two"}));
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    let log = notebook.read_history(Some("a.md")).unwrap();
    let by: Vec<_> = log.iter().map(|version| format!("{:?}", version.by)).collect();
    expect_test::expect![[r#"
        [
            "Author { who: Agent { agent: \"codex\", session: Some(\"s1\") }, tool: \"memory_write\" }",
            "Author { who: Person, tool: \"tome memory append\" }",
        ]
    "#]]
    .assert_debug_eq(&by);
}
