//! Injections when a session starts or is resumed.

use std::path::Path;

use serde_json::{Value, json};
use tome_testkit::World;

use crate::injections::{context, hook, says};
use crate::support::*;

fn start(app: &Path, session: &str, source: &str) -> Value {
    json!({"session_id": session, "cwd": app, "hook_event_name": "SessionStart", "source": source})
}

fn stop(app: &Path, session: &str, words: &str) -> Value {
    json!({"session_id": session, "cwd": app, "hook_event_name": "Stop", "stop_hook_active": false,
           "last_assistant_message": words})
}

fn event(app: &Path, session: &str, second: u64, kind: &str, text: &str) -> String {
    line_with(&json!({"session_id": session, "cwd": app, "kind": kind, "text": text,
        "at": MORNING_MS + second * 1_000}))
}

#[test]
fn an_offline_chat_is_not_the_last_session() {
    let world = world();
    let app = world.folder("app");
    world.ingest(
        &[
            event(&app, "old", 0, "user_message", "Port the tokenizer to the new Unicode tables."),
            event(&app, "old", 60, "assistant_stop", "The tokenizer reads the new tables now."),
            event(&app, "old", 90, "session_end", ""),
        ]
        .concat(),
    );
    let mut chat = world.command(&["chat", "--offline", "Hello, I am Zhang San."]);
    assert_eq!(World::run(chat.current_dir(&app), b"").code, 0);
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    let (_, last) = context(&response).split_once("## Where the last session stopped").unwrap();
    assert!(last.contains("Port the tokenizer") && !last.contains("Zhang San"), "{response}");
}

/// A resumed session still has its start injection in the context.
#[test]
fn a_resumed_session_gets_only_the_changes() {
    let world = world();
    let app = world.folder("app");
    assert_eq!(world.tome(&["start"]).code, 0);
    let run = |payload: &Value| hook(&world, &["claude-code"], payload);
    for (session, prompt, answered) in [
        (
            "away",
            "Count the zebras of the test data.",
            "There are twelve zebras in the test data now.",
        ),
        (
            "mine",
            "Make the parser recover from missing semicolons.",
            "The parser recovers from missing semicolons now.",
        ),
    ] {
        assert!(run(&start(&app, session, "startup")).is_some());
        run(&says(&app, session, prompt));
        run(&stop(&app, session, answered));
    }
    assert_eq!(run(&start(&app, "mine", "resume")), None, "nothing changed");
    // A note is written, and another session runs.
    let note = json!({"path": "braces.md", "name": "Braces", "type": "project", "description": "how braces are closed", "content": "With care."});
    let mut write = world.command(&["tool", "memory_write", "-"]);
    assert_eq!(World::run(write.current_dir(&app), note.to_string().as_bytes()).code, 0);
    run(&says(&app, "other", "Redesign the settings page of the website."));
    run(&stop(&app, "other", "The settings page of the website has a new design with tabs."));
    let response = run(&start(&app, "away", "resume")).unwrap();
    let text = context(&response);
    assert!(text.starts_with("<tome-memory kind=\"resume\">"), "{text}");
    assert!(text.contains("braces.md") && text.contains("new design with tabs"), "{text}");
    assert!(!text.contains("Rules for using") && !text.contains("zebras"), "{text}");
    // A session that never got an injection gets everything.
    world.ingest(&event(
        &app,
        "imported",
        0,
        "user_message",
        "Something that happened long ago, before Tome.",
    ));
    let response = run(&start(&app, "imported", "resume")).unwrap();
    assert!(context(&response).contains("Rules for using this memory"), "{response}");
}

/// OpenCode gets the text as part of its system prompt, which every process builds again.
#[test]
fn opencode_gets_everything_again_when_it_resumes() {
    let world = world();
    let app = world.folder("app");
    assert_eq!(world.tome(&["start"]).code, 0);
    let payload = |kind: &str| {
        json!({"event": {"type": kind, "properties": {"sessionID": "ses_1",
        "info": {"id": "ses_1", "title": "x", "time": {"created": MORNING_MS}}}}, "directory": app})
    };
    for kind in ["session.created", "session.resumed"] {
        let response = hook(&world, &["opencode"], &payload(kind)).unwrap();
        assert!(
            response["context"].as_str().unwrap().contains("Rules for using this memory"),
            "{kind} {response}"
        );
    }
}
