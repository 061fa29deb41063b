//! Injections when a session starts, continues after a compaction, or is resumed.

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

const CONCLUSION: &str = "The tokenizer reads its Unicode tables from a file that is generated at build time. \
    All 212 tests pass.\n\nNext steps:\n1. Delete the old shim\n2. Document the generator";

/// A session with a beginning, a conclusion and a trivial end.
fn whole_session(app: &Path) -> String {
    [
        event(app, "old", 0, "user_message", "Port the tokenizer to the new Unicode tables."),
        event(app, "old", 60, "assistant_message", "I will read the tables first."),
        event(app, "old", 120, "assistant_stop", CONCLUSION),
        event(app, "old", 9_000, "user_message", "thanks"),
        event(app, "old", 9_010, "assistant_stop", "You're welcome!"),
        event(app, "old", 9_020, "session_end", ""),
    ]
    .concat()
}

#[test]
fn the_last_session_is_summarized_as_a_whole() {
    let world = world();
    let app = world.folder("app");
    world.ingest(&whole_session(&app));
    // Later sessions that do not count: a subagent's, and one without a prompt.
    let child =
        line_with(&json!({"session_id": "child", "cwd": app, "kind": "subagent_start", "text": "",
        "at": MORNING_MS + 10_000_000, "meta": {"parent": "old"}}));
    world.ingest(
        &[
            child,
            event(
                &app,
                "child",
                10_001,
                "user_message",
                "Search the code for the word banana, subagent.",
            ),
            event(
                &app,
                "child",
                10_002,
                "assistant_stop",
                "The word banana occurs nowhere in the code at all.",
            ),
            event(&app, "silent", 10_003, "session_start", ""),
        ]
        .concat(),
    );
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    let text = context(&response);
    let (_, last) = text.split_once("## Where the last session stopped").unwrap();
    for words in [
        "Last request: Port the tokenizer to the new Unicode tables.",
        "Agent's final message: The tokenizer reads its Unicode tables",
        "Open: Delete the old shim",
        "Open: Document the generator",
    ] {
        assert!(last.contains(words), "{words} in {text}");
    }
    for words in ["welcome", "banana"] {
        assert!(!text.contains(words), "{words} in {text}");
    }
}

#[test]
fn an_offline_chat_is_not_the_last_session() {
    let world = world();
    let app = world.folder("app");
    world.ingest(&whole_session(&app));
    let mut chat = world.command(&["chat", "--offline", "Hello, I am Zhang San."]);
    assert_eq!(World::run(chat.current_dir(&app), b"").code, 0);
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    let (_, last) = context(&response).split_once("## Where the last session stopped").unwrap();
    assert!(last.contains("Port the tokenizer") && !last.contains("Zhang San"), "{response}");
}

#[test]
fn an_unanswered_request_is_shown_as_open() {
    let world = world();
    let app = world.folder("app");
    world.ingest(
        &[
            event(&app, "old", 0, "user_message", "Explain how the lexer reads identifiers."),
            event(
                &app,
                "old",
                5,
                "assistant_stop",
                "The lexer reads identifiers with the XID tables.",
            ),
            event(&app, "old", 9, "user_message", "Now make it accept emoji as well."),
        ]
        .concat(),
    );
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    assert!(
        context(&response).contains("Last request, unanswered: Now make it accept emoji as well."),
        "{response}"
    );
}

/// After a compaction a session gets its own state and not that of another.
#[test]
fn after_a_compaction_a_session_gets_its_own_state() {
    let world = world();
    let app = world.folder("app");
    world.ingest(
        &[
            event(
                &app,
                "mine",
                0,
                "user_message",
                "Make the parser recover from missing semicolons.",
            ),
            event(
                &app,
                "mine",
                60,
                "assistant_stop",
                "The parser now recovers from missing semicolons at statement ends.",
            ),
            event(&app, "mine", 100, "user_message", "Do the same for closing braces, please."),
            event(&app, "mine", 160, "compaction", ""),
            event(&app, "other", 200, "user_message", "Redesign the settings page of the website."),
            event(
                &app,
                "other",
                260,
                "assistant_stop",
                "The settings page of the website has a new design with tabs.",
            ),
        ]
        .concat(),
    );
    let response = hook(&world, &["claude-code"], &start(&app, "mine", "compact")).unwrap();
    let text = context(&response);
    assert!(text.contains("## Where this session stands"), "{text}");
    for words in [
        "recover from missing semicolons",
        "Do the same for closing braces",
        "recovers from missing semicolons at",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(
        !text.contains("settings page") && text.contains("Rules for using this memory"),
        "{text}"
    );
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
