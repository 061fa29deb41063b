//! Transcripts of Windows, imported on another system.
#![cfg(not(windows))]

use serde_json::{Value, json};

use crate::import::import;
use crate::support::{MORNING_MS, world};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A session of Codex in a folder, which changes a file there.
fn rollout(session: &str, at_ms: u64, cwd: &str, file: &str) -> String {
    let line = |after_ms: u64, kind: &str, payload: Value| {
        let at = tome_model::Millis(at_ms + after_ms).to_string();
        json!({"timestamp": at, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch");
    let id = "call_0000000000001";
    let text = json!([{"type": "input_text", "text": "make the lexer accept emoji"}]);
    line(0, "session_meta", json!({"id": session, "cwd": cwd, "cli_version": "0.166.0"}))
        + &line(10, "response_item", json!({"type": "message", "role": "user", "content": text}))
        + &line(
            20,
            "response_item",
            json!({"type": "custom_tool_call", "call_id": id,
                                            "name": "apply_patch", "input": patch}),
        )
        + &line(
            30,
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": id,
                                            "output": "Success. Updated the following files"}),
        )
}

#[test]
fn a_folder_of_windows_is_one_project_on_every_day() {
    let world = world();
    let sessions = [
        ("14", "019a9d22-0000-7000-8000-000000000001", "C:\\Users\\dev\\app", "src/lexer.rs"),
        ("15", "019a9d22-0000-7000-8000-000000000002", "c:\\Users\\dev\\app", "src\\lexer.rs"),
        ("15", "019a9d22-0000-7000-8000-000000000003", "C:\\Users\\dev\\site", "src/lexer.rs"),
    ];
    for (index, (day, session, cwd, file)) in (0..).zip(sessions) {
        let path = format!("person/.codex/sessions/2026/11/{day}/rollout-{session}.jsonl");
        world.write(&path, &rollout(session, MORNING_MS + index * DAY_MS, cwd, file));
    }
    import(&world, &[]);
    let roots: Vec<(Value, Value)> = world
        .events()
        .iter()
        .filter(|event| event["kind"] == "user_message")
        .map(|event| (event["project"].clone(), event["cwd"].clone()))
        .collect();
    let expected = [
        ("C:\\Users\\dev\\app", "C:\\Users\\dev\\app"),
        ("C:\\Users\\dev\\app", "c:\\Users\\dev\\app"),
        ("C:\\Users\\dev\\site", "C:\\Users\\dev\\site"),
    ];
    assert_eq!(roots, expected.map(|(root, cwd)| (json!(root), json!(cwd))));

    let listed = world.tome(&["sessions", "--project", "app"]).stdout;
    assert_eq!(listed.matches("lexer accept emoji").count(), 2, "{listed}");
    let file = world.tome(&["file", "src/lexer.rs", "--project", "app"]);
    assert_eq!(file.code, 0, "{file:?}");
    assert!(file.stdout.contains("src/lexer.rs"), "{file:?}");

    let recalled = world.tome(&["recall", "lexer accept emoji", "--project", "app"]);
    assert!(recalled.stdout.contains("make the lexer accept emoji"), "{recalled:?}");
    let indexed = world.tome(&["status"]).stdout;
    assert!(!indexed.contains("not an absolute path"), "{indexed}");
    let notes = world.tome(&["memory", "list", "--project", "app"]);
    assert_eq!((notes.code, notes.stderr.as_str()), (0, ""), "{notes:?}");

    let resumed = world.tome(&["resume", "019a9d22-0000-7000-8000-000000000003"]);
    assert!(resumed.stderr.contains("is on another machine: C:\\Users\\dev\\site"), "{resumed:?}");
    let refused = world.tome(&["resume", "--run", "019a9d22-0000-7000-8000-000000000003"]);
    assert_eq!(refused.code, 1, "{refused:?}");
}
