//! `tome chat --offline` is a demonstration; its sessions are not part of the project's memory.

use serde_json::json;
use tome_testkit::World;

use crate::support::{line_with, world};

#[test]
fn an_offline_chat_is_not_the_last_session_and_not_in_recall() {
    let world = world();
    let folder = world.folder("app");
    let cwd = folder.to_str().unwrap();
    for (n, text) in
        ["the parser drops trailing commas", "please fix the parser"].iter().enumerate()
    {
        world.ingest(&line_with(&json!({
            "id": format!("real{n}"), "session_id": "real", "agent": "claude-code", "cwd": cwd,
            "text": text, "at": 1_794_735_000_000_u64 + n as u64,
        })));
    }
    let mut chat = world.command(&["chat", "--offline", "--session", "demo"]);
    let ran = World::run(chat.current_dir(&folder), b"how many marmalade jars did zebras count?\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    let stored = world.tome(&["events", "--session", "demo", "--all-projects", "--json"]);
    assert!(stored.stdout.contains("marmalade"), "it can go on: {stored:?}");

    let start = json!({
        "session_id": "next", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup",
    });
    let told = world.hook_output(&["claude-code"], start.to_string()).unwrap().to_string();
    assert!(told.contains("parser") && !told.contains("marmalade"), "{told}");
    for across in [&["--project", cwd][..], &["--all-projects"]] {
        let found = world.tome(&[&["recall", "zebras marmalade jars", "--json"], across].concat());
        assert!(!found.stdout.contains("zebras count"), "{found:?}");
    }
    let mut again = world.command(&["chat", "--offline", "--continue", "--json"]);
    let resumed = World::run(again.current_dir(&folder), b"").json_lines();
    assert_eq!((&resumed[0]["session_id"], &resumed[0]["resumed"]), (&"demo".into(), &true.into()));
}
