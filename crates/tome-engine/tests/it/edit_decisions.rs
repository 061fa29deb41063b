//! The decision about a file that an agent edits: the last one that still holds.

use std::sync::Mutex;

use serde_json::{Value, json};
use tome_engine::{
    DECISION_TOKENS_MAX, FileEdit, StartKind, StartParts, StartRequest, TokenBudget,
};
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
        ("Actually no hand-written scanner, use the crate.", false),
        ("I changed my mind about the hand-written scanner.", false),
        ("Scratch that. Put the scanner into a crate.", false),
        ("Let's not use a hand-written scanner after all.", false),
        ("Go back to the logos crate in src/lexer.rs.", false),
        ("Don't touch the hand-written scanner, add tests for tokens.", true),
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

/// The page of the file and the texts for a session and a subagent that start know it as well.
#[test]
fn a_decision_that_was_taken_back_is_told_nowhere() {
    let fixture = decided();
    let start = |fixture: &EngineFixture| {
        let request = StartRequest {
            project: ROOT.to_owned(),
            session: Some("new".to_owned()),
            kind: StartKind::Fresh,
        };
        let parts = Mutex::new(StartParts::unread());
        fixture.engine.injector().unwrap().gather_start(&request, &parts);
        parts.into_inner().unwrap().known.decisions.join("\n")
    };
    let subagent = |fixture: &EngineFixture| {
        let new = SessionId::parse("new").unwrap();
        fixture.engine.injector().unwrap().load_how_to_work(ROOT, &new).unwrap().join("\n")
    };
    let history = |fixture: &EngineFixture| {
        fixture.call_tool("file_history", &json!({"path": "src/lexer.rs"})).text
    };
    let stated = "- Decided 2026-03-25: ";
    fixture.catch_up();
    assert!(start(&fixture).contains(stated), "{}", start(&fixture));
    assert!(subagent(&fixture).contains(stated), "{}", subagent(&fixture));
    assert!(history(&fixture).contains("hand-written scanner"), "{}", history(&fixture));
    assert!(!history(&fixture).contains("Taken back"), "{}", history(&fixture));
    fixture.ingest([
        prompt("later", 100, "Actually no hand-written scanner. Use the crate in src/lexer.rs."),
        edit("later", 101, "src/lexer.rs"),
        stop("later", 102),
        end("later", 103),
    ]);
    fixture.catch_up();
    assert_eq!(decision(&fixture, "new", "src/lexer.rs"), None);
    assert_eq!(start(&fixture), "");
    assert!(!subagent(&fixture).contains(stated), "{}", subagent(&fixture));
    let history = history(&fixture);
    assert!(history.contains("- Taken back later (#7): "), "{history}");
}

/// Of the answer to a question the answer is the decision.
#[test]
fn a_long_question_is_shortened_and_its_answer_is_not() {
    let question = "How should the scanner in src/lexer.rs find out which of the tables for the characters of \
        other scripts it needs to load while the compiler reads the rest of the file?";
    let answer = "Load all of them once when the first character of another script comes up";
    let fixture = EngineFixture::new();
    let options = json!([{"label": answer}, {"label": "Load each when it is needed"}]);
    let questions = json!([{"question": question, "header": "Tables", "options": options}]);
    let mut asked = tool("past", 2, "AskUserQuestion", &json!({"questions": questions}));
    asked["tool"]["output"] = json!({"questions": questions, "answers": {question: answer}});
    fixture.ingest([
        prompt("past", 1, "Make src/lexer.rs read identifiers of all scripts"),
        asked,
        edit("past", 3, "src/lexer.rs"),
        stop("past", 4),
        end("past", 5),
    ]);
    let text = decision(&fixture, "now", "src/lexer.rs").unwrap();
    assert!(text.contains(answer) && text.contains("How should the scanner"), "{text}");
    let new = SessionId::parse("new").unwrap();
    let lines = fixture.engine.injector().unwrap().load_how_to_work(ROOT, &new).unwrap();
    assert!(lines.iter().any(|line| line.contains(answer)), "{lines:?}");
}

/// An answer that leaves the choice open decides nothing.
#[test]
fn an_answer_that_defers_the_choice_is_no_decision() {
    let fixture = EngineFixture::new();
    let question = "Which strategy should src/lexer.rs use for errors?";
    let questions = json!([{"question": question, "header": "Errors", "options": []}]);
    let mut asked = tool("past", 2, "AskUserQuestion", &json!({"questions": questions}));
    asked["tool"]["output"] = json!({"questions": questions, "answers": {question: "Let me pick"}});
    fixture.ingest([
        prompt("past", 1, "Make src/lexer.rs report all errors"),
        asked,
        edit("past", 3, "src/lexer.rs"),
        stop("past", 4),
        end("past", 5),
    ]);
    assert_eq!(decision(&fixture, "now", "src/lexer.rs"), None);
    let new = SessionId::parse("new").unwrap();
    let lines = fixture.engine.injector().unwrap().load_how_to_work(ROOT, &new).unwrap();
    assert!(!lines.iter().any(|line| line.contains("Let me pick")), "{lines:?}");
    let history = fixture.call_tool("file_history", &json!({"path": "src/lexer.rs"})).text;
    assert!(!history.contains("Let me pick"), "{history}");
}

/// A file is deleted by a command: its page says so, and a file of that name has no decision.
#[test]
fn a_file_that_a_command_deleted_has_no_decision() {
    for command in ["rm src/lexer.rs", "cd src && git rm lexer.rs", "rm -rf src"] {
        let fixture = decided();
        assert!(decision(&fixture, "other", "src/lexer.rs").is_some());
        fixture.ingest([
            prompt("later", 100, "Clean up what nothing needs"),
            tool("later", 101, "Bash", &json!({"command": command})),
            stop("later", 102),
            end("later", 103),
        ]);
        assert_eq!(decision(&fixture, "now", "src/lexer.rs"), None, "{command}");
        let history = fixture.call_tool("file_history", &json!({"path": "src/lexer.rs"})).text;
        assert!(history.contains("(deleted) [#"), "{command}: {history}");
    }
}
