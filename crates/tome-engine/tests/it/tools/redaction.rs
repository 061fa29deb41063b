//! Secrets never reach a note.

use serde_json::json;
use tome_engine::ToolFailure;

use super::fixture::{files_in, tools_fixture};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

#[test]
fn secrets_are_redacted_in_everything_written() {
    let fixture = tools_fixture();
    let text = format!("the token is {SECRET}");
    let calls = [
        ("memory_write", json!({"path": "a.md", "content": text}), 1),
        (
            "memory_write",
            json!({"filename": "b.md", "name": text, "description": text, "memory_type": "user",
                "content": text}),
            3,
        ),
        ("memory_append", json!({"path": "a.md", "entry": text, "summary": text}), 2),
        ("memory_write", json!({"path": "c.md", "content": "one"}), 0),
        ("memory_patch", json!({"path": "c.md", "old_str": "one", "new_str": text}), 1),
        ("memory_write", json!({"path": "d.md", "content": "one"}), 0),
        ("memory_update", json!({"path": "d.md", "old_text": "one", "new_text": text}), 1),
        ("memory", json!({"command": "create", "path": "/memories/e.md", "file_text": text}), 1),
        (
            "memory",
            json!({"command": "insert", "path": "/memories/e.md", "insert_line": 0,
                "insert_text": text}),
            1,
        ),
        (
            "coder_memory_store",
            json!({"type": "episodic", "title": "Tokens in logs", "description": "A token was logged.",
                "content": format!("The log held {SECRET} in clear. It was found late. Cut it early."),
                "tags": ["#failure", "#logs"]}),
            1,
        ),
    ];
    for (tool, arguments, cut) in calls {
        let answer = fixture.call_ok(tool, arguments);
        assert_eq!(answer.secrets_cut, cut, "{tool}");
        let told = answer.json["secrets_cut"].as_u64().unwrap_or(0);
        assert_eq!(told, cut as u64, "{tool}: {}", answer.text);
    }
    for (path, bytes) in files_in(&fixture.top()) {
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        assert!(!text.contains(SECRET), "{}", path.display());
    }
    assert!(fixture.note_text("a.md").contains("[redacted:"));
}

#[test]
fn an_old_text_with_a_secret_matches_its_redacted_form() {
    let fixture = tools_fixture();
    let text = format!("the token is {SECRET}");
    fixture.call_text("memory_write", json!({"path": "a.md", "content": format!("one\n{text}\n")}));
    fixture.call_text("memory_patch", json!({"path": "a.md", "old_str": text, "new_str": "two"}));
    assert_eq!(fixture.note_text("a.md"), "one\ntwo\n");
    fixture.call_text("memory_patch", json!({"path": "a.md", "old_str": "two", "new_str": text}));
    fixture
        .call_text("memory_update", json!({"path": "a.md", "old_text": text, "new_text": "three"}));
    assert_eq!(fixture.note_text("a.md"), "one\nthree\n");
    fixture.call_text("memory_patch", json!({"path": "a.md", "old_str": "three", "new_str": text}));
    fixture.call_text(
        "memory",
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": text, "new_str": "4"}),
    );
    assert_eq!(fixture.note_text("a.md"), "one\n4\n");
}

#[test]
fn a_path_with_a_secret_is_rejected() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    let path = format!("{SECRET}.md");
    fixture.call_rejected(
        "memory_write",
        json!({"path": path, "content": "x"}),
        ToolFailure::Invalid,
    );
    fixture.call_rejected(
        "memory_append",
        json!({"path": path, "entry": "x"}),
        ToolFailure::Invalid,
    );
    let inner = format!("/memories/{path}");
    let create = json!({"command": "create", "path": inner, "file_text": "x"});
    fixture.call_rejected("memory", create, ToolFailure::Invalid);
    let rename = json!({"command": "rename", "old_path": "/memories/a.md", "new_path": inner});
    fixture.call_rejected("memory", rename, ToolFailure::Invalid);
}

#[test]
fn a_secret_completed_by_a_change_is_redacted() {
    let cases = [
        ("a password: TBD here\nnext", "TBD", "Xk29vLq8ZrT4wQ1n"),
        ("one\r\napi_key = \"TBD\"\r\n", "TBD", "Xk29vLq8ZrT4wQ1nB73mPzYt"),
        ("token ghp_PLACE", "PLACE", "16C7e42F292c6912E7710c838347Ae178B4a"),
    ];
    for (text, old, new) in cases {
        let calls = [
            ("memory_patch", json!({"path": "a.md", "old_str": old, "new_str": new})),
            (
                "memory_patch",
                json!({"path": "a.md", "patches": [
                    {"oldText": old, "newText": "??"}, {"oldText": "??", "newText": new}]}),
            ),
            ("memory_update", json!({"path": "a.md", "old_text": old, "new_text": new})),
            (
                "memory",
                json!({"command": "str_replace", "path": "/memories/a.md", "old_str": old,
                    "new_str": new}),
            ),
        ];
        for (tool, arguments) in calls {
            let fixture = tools_fixture();
            fixture.call_text("memory_write", json!({"path": "a.md", "content": text}));
            let answer = fixture.call_ok(tool, arguments);
            assert_eq!(answer.secrets_cut, 1, "{tool} {text:?}: {}", answer.text);
            assert!(fixture.note_text("a.md").contains("[redacted:"), "{tool} {text:?}");
            for (path, bytes) in files_in(&fixture.top()) {
                let content =
                    String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
                assert!(!content.contains(new), "{tool}: {}", path.display());
            }
        }
    }
}
