//! The decision about a file that an agent edits: the last one that still holds.

use serde_json::{Value, json};
use tome_engine::{DECISION_TOKENS_MAX, FileEdit, TokenBudget};
use tome_model::SessionId;

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT};

const CHOICE: &str =
    "Let's go with a hand-written scanner in src/lexer.rs instead of the logos crate";

/// An event of a session of Claude Code; minutes count from the morning.
fn event(session: &str, minute: u64, fields: &Value) -> Value {
    let at = MORNING_MS + minute * MINUTE_MS;
    let mut event = json!({"session_id": session, "agent": "claude-code", "at": at});
    for (name, value) in fields.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn prompt(session: &str, minute: u64, text: &str) -> Value {
    event(session, minute, &json!({"text": text}))
}

fn tool(session: &str, minute: u64, name: &str, input: &Value) -> Value {
    let tool = json!({"name": name, "input": input, "output": "ok"});
    event(session, minute, &json!({"kind": "tool_result", "text": "", "tool": tool}))
}

fn edit(session: &str, minute: u64, path: &str) -> Value {
    let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    tool(session, minute, "Edit", &input)
}

fn stop(session: &str, minute: u64) -> Value {
    let text = format!("done with {session}");
    event(session, minute, &json!({"kind": "assistant_stop", "text": text}))
}

fn end(session: &str, minute: u64) -> Value {
    event(session, minute, &json!({"kind": "session_end", "text": ""}))
}

/// A project in which a session decided something about `src/lexer.rs`.
fn decided() -> EngineFixture {
    let fixture = EngineFixture::new();
    fixture.ingest([
        event("past", 0, &json!({"kind": "session_start", "text": ""})),
        prompt("past", 1, CHOICE),
        edit("past", 2, "src/lexer.rs"),
        edit("past", 3, "src/billing.rs"),
        stop("past", 4),
        end("past", 5),
    ]);
    fixture
}

/// The decision that a session gets before it edits a file.
fn decision(fixture: &EngineFixture, session: &str, path: &str) -> Option<String> {
    let edit = FileEdit {
        project: ROOT.to_owned(),
        session: SessionId::parse(session).unwrap(),
        subagent: String::new(),
        cwd: ROOT.to_owned(),
        files: vec![path.to_owned()],
    };
    let budget = TokenBudget { tokens: DECISION_TOKENS_MAX, bytes: 9_500 };
    let lookup = fixture.engine.injector().unwrap().find_edit_decision(&edit, budget);
    lookup.unwrap().text.map(|text| text.text)
}

#[test]
fn a_decision_that_may_not_hold_is_not_repeated() {
    let fixture = decided();
    assert!(decision(&fixture, "other", "src/lexer.rs").is_some());
    fixture.ingest([prompt("now", 10, "Replace the hand-written scanner with the logos crate")]);
    let asked = decision(&fixture, "now", "src/lexer.rs");
    assert_eq!(asked, None, "the user asks for a change");
    let later = "Let's go with the logos crate instead of the hand-written scanner in src/lexer.rs";
    fixture.ingest([
        prompt("later", 20, later),
        edit("later", 21, "src/lexer.rs"),
        stop("later", 22),
    ]);
    let text = decision(&fixture, "new", "src/lexer.rs").unwrap_or_default();
    assert!(text.contains("logos crate instead of the hand-written"), "the newer one: {text:?}");
}

/// A decision is taken back in a session that edits another file, or none.
#[test]
fn a_decision_that_a_later_session_took_back_is_not_repeated() {
    for (text, is_given) in [
        ("Actually the scanner was a mistake. We switched to the logos crate today.", false),
        ("We no longer want the hand-written scanner.", false),
        ("Explain how the hand-written scanner reads numbers.", true),
    ] {
        let fixture = decided();
        fixture.ingest([
            prompt("later", 10, text),
            edit("later", 11, "src/tokens.rs"),
            stop("later", 12),
            end("later", 13),
        ]);
        assert_eq!(decision(&fixture, "now", "src/lexer.rs").is_some(), is_given, "{text}");
    }
}

/// A decision goes with the file that it is about, not with its name.
#[test]
fn a_decision_follows_its_file() {
    let fixture = decided();
    fixture.ingest([
        prompt("mover", 10, "Give the file of the scanner the name of what it holds"),
        tool("mover", 11, "Bash", &json!({"command": "git mv src/lexer.rs src/scanner.rs"})),
        tool("mover", 12, "Read", &json!({"file_path": "src/lexer.rs"})),
        stop("mover", 13),
        end("mover", 14),
    ]);
    let renamed = decision(&fixture, "now", "src/lexer.rs");
    assert_eq!(renamed, None, "an edit creates another file");
    let text = decision(&fixture, "now", "src/scanner.rs").unwrap();
    assert!(text.contains(" on scanner.rs: "), "{text}");
}
