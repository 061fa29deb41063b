//! The conversation of a small session, at four widths.

use expect_test::expect;
use serde_json::json;
use tome_model::{Agent, EventId, EventKind, Millis, Role, SessionId, Tool};
use tome_terminal::{BOLD, DIM, GREEN, RED, RESET, YELLOW, display_width};

use super::*;

/// 2026-11-15T09:30:00Z.
const MORNING_MS: u64 = 1_794_735_000_000;

fn event(number: u64, kind: EventKind, text: &str, tool: Option<Tool>) -> (u64, Event) {
    let role = match kind {
        EventKind::UserMessage => Role::User,
        EventKind::ToolResult => Role::Tool,
        _ => Role::Assistant,
    };
    let event = Event {
        id: EventId::parse(&format!("event-{number}")).unwrap(),
        session: SessionId::parse("419f42f0-2fa1").unwrap(),
        agent: Agent::parse("claude-code").unwrap(),
        kind,
        role,
        text: text.to_owned(),
        tool,
        at: Millis(MORNING_MS + number * 60_000),
        arrived: Millis(MORNING_MS),
        project: "/home/dev/app".to_owned(),
        cwd: "/home/dev/app".to_owned(),
        meta: serde_json::Map::default().into_iter().collect(),
    };
    (number, event)
}

fn call(name: &str, input: Value, output: Value) -> Option<Tool> {
    Some(Tool { name: name.to_owned(), input, output })
}

fn events() -> Vec<(u64, Event)> {
    let passed = json!({"stdout": "ok", "stderr": ""});
    let failed = json!("Exit code 101\nerror: mismatched types");
    let edit = json!({"file_path": "/home/dev/app/src/lexer.rs", "old_string": "fn is_letter(c: char) -> bool {\n    c.is_ascii_alphabetic()\n}", "new_string": "fn is_letter(c: char) -> bool {\n    unicode_ident::is_xid_start(c)\n}"});
    vec![
        event(
            1,
            EventKind::UserMessage,
            "Please make the lexer accept unicode identifiers, in every place where it reads a name.",
            None,
        ),
        event(2, EventKind::ToolResult, "", call("Edit", edit, json!("done"))),
        event(
            3,
            EventKind::ToolResult,
            "",
            call("Bash", json!({"command": "cd /home/dev/app && cargo test"}), failed),
        ),
        event(
            4,
            EventKind::ToolResult,
            "",
            call("Bash", json!({"command": "cargo test\necho done"}), passed),
        ),
        event(
            5,
            EventKind::AssistantMessage,
            "## Done\n\nIdentifiers follow the **XID rules** now:\n\n- the lexer uses `unicode_ident`, which is small and has no dependencies\n- all tests pass\n\n```rust\nassert!(is_letter('é'));\n```",
            None,
        ),
        event(
            8,
            EventKind::ToolResult,
            "",
            call(
                "Edit",
                json!({"file_path": "/home/dev/app/src/lexer.rs", "old_string": "a", "new_string": "b"}),
                json!(
                    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep the name `is_letter`"
                ),
            ),
        ),
        event(
            9,
            EventKind::ToolResult,
            "",
            call(
                "Bash",
                json!({"command": "mise run lint 2>&1 | tail -5"}),
                json!({"stdout": "src/lexer.rs:7:2: unused import\n[lint] ERROR task failed", "stderr": ""}),
            ),
        ),
        event(6, EventKind::UserMessage, "Thanks. \u{1b}]52;c;aGk=\u{7} Commit it.", None),
        event(7, EventKind::AssistantMessage, "Committed.", None),
    ]
}

fn shown(width: usize, cited: Option<&str>) -> (String, usize) {
    let events = events();
    let turns = read_conversation(&events, &cut_turns(&plain_events(&events)));
    let turns: Vec<&ConversationTurn<'_>> = turns.iter().collect();
    let session = v1::Session {
        title: "Accept unicode identifiers in the lexer".to_owned(),
        agent: "claude-code".to_owned(),
        branch: "feature/unicode".to_owned(),
        project: "/home/dev/app".to_owned(),
        first_at_ms: MORNING_MS,
        last_at_ms: MORNING_MS + 600_000,
        prompts: 2,
        ..v1::Session::default()
    };
    let screen = Screen::for_test(MORNING_MS + 7_200_000, width);
    let page = render::render_session(&screen, &session, &turns, cited, false).unwrap();
    let styles = [BOLD, DIM, GREEN, RED, RESET, YELLOW];
    let plain = styles.iter().fold(page.text, |text, style| text.replace(style, ""));
    for line in plain.lines() {
        assert!(display_width(line) <= width, "{width}: {line}");
    }
    (plain, page.open_at)
}

#[test]
fn the_conversation_fits_every_width() {
    expect![[r#"
        ── Accept unicode identifiers in the lexer
        claude-code · Sun, Nov 15, 09:30 – 09:40 · on
        feature/unicode
        2 turns · ~/app

        ── 1 · Sun, Nov 15, 09:31 ──────────────────────────────────
        │ Please make the lexer accept unicode identifiers, in every
        │ place where it reads a name.

          ✎ src/lexer.rs  +1 −1
              fn is_letter(c: char) -> bool {
            -     c.is_ascii_alphabetic()
            +     unicode_ident::is_xid_start(c)
              }
          ✗ cargo test  exit 101
              error: mismatched types
          · cargo test …

        Done

        Identifiers follow the XID rules now:

        - the lexer uses `unicode_ident`, which is small and has
          no dependencies
        - all tests pass

            assert!(is_letter('é'));

          ✗ Edit src/lexer.rs  rejected

        │ keep the name `is_letter`

          ✗ mise run lint 2>&1 | tail -5  failed
              lexer.rs:7:2: unused import

        ── 2 · Sun, Nov 15, 09:36 ──────────────────────────────────
        │ Thanks. �]52;c;aGk=� Commit it.

        Committed.
    "#]]
    .assert_eq(&shown(60, None).0);
    expect![[r#"
        ── Accept unicode identifiers in the lexer
        claude-code · Sun, Nov 15, 09:30 – 09:40 · on feature/unicode
        2 turns · ~/app

        ── 1 · Sun, Nov 15, 09:31 ──────────────────────────────────────────────────────
        │ Please make the lexer accept unicode identifiers, in every place where it
        │ reads a name.

          ✎ src/lexer.rs  +1 −1
              fn is_letter(c: char) -> bool {
            -     c.is_ascii_alphabetic()
            +     unicode_ident::is_xid_start(c)
              }
          ✗ cargo test  exit 101
              error: mismatched types
          · cargo test …

        Done

        Identifiers follow the XID rules now:

        - the lexer uses `unicode_ident`, which is small and has no dependencies
        - all tests pass

            assert!(is_letter('é'));

          ✗ Edit src/lexer.rs  rejected

        │ keep the name `is_letter`

          ✗ mise run lint 2>&1 | tail -5  failed
              lexer.rs:7:2: unused import

        ── 2 · Sun, Nov 15, 09:36 ──────────────────────────────────────────────────────
        │ Thanks. �]52;c;aGk=� Commit it.

        Committed.
    "#]]
    .assert_eq(&shown(80, None).0);
    expect![[r#"
        ── Accept unicode identifiers in the lexer
        claude-code · Sun, Nov 15, 09:30 – 09:40 · on feature/unicode
        2 turns · ~/app

        ── 1 · Sun, Nov 15, 09:31 ──────────────────────────────────────────────────────────────────────────
        │ Please make the lexer accept unicode identifiers, in every place where it reads a name.

          ✎ src/lexer.rs  +1 −1
              fn is_letter(c: char) -> bool {
            -     c.is_ascii_alphabetic()
            +     unicode_ident::is_xid_start(c)
              }
          ✗ cargo test  exit 101
              error: mismatched types
          · cargo test …

        Done

        Identifiers follow the XID rules now:

        - the lexer uses `unicode_ident`, which is small and has no dependencies
        - all tests pass

            assert!(is_letter('é'));

          ✗ Edit src/lexer.rs  rejected

        │ keep the name `is_letter`

          ✗ mise run lint 2>&1 | tail -5  failed
              lexer.rs:7:2: unused import

        ── 2 · Sun, Nov 15, 09:36 ──────────────────────────────────────────────────────────────────────────
        │ Thanks. �]52;c;aGk=� Commit it.

        Committed.
    "#]].assert_eq(&shown(100, None).0);
    assert_eq!(shown(160, None), shown(100, None), "prose is not wider than 100 columns");
}

#[test]
fn other_calls_are_described_in_a_few_words() {
    let describe = |name: &str, input: Value| {
        let events = [event(1, EventKind::ToolResult, "", call(name, input, json!("ok")))];
        let turns = read_conversation(&events, &cut_turns(&plain_events(&events)));
        match turns.first().and_then(|turn| turn.steps.first()) {
            Some(TurnStep::Called { line, .. }) => line.clone(),
            other => format!("{other:?}"),
        }
    };
    let todo = |text: &str, status: &str| json!({"content": text, "status": status});
    let todos = json!({"todos": [todo("Read", "completed"), todo("Write", "in_progress")]});
    assert_eq!(describe("TodoWrite", todos), "TodoWrite 1 of 2 done, now: Write");
    let issue = json!({"owner": "dev", "number": 12, "body": {"x": 1}});
    assert_eq!(describe("mcp__forge__get_issue", issue), "forge: get_issue owner=dev number=12");
    assert_eq!(describe("Grep", json!({"pattern": "fn x", "path": "/a"})), "Grep fn x");
}

#[test]
fn the_cited_event_is_marked() {
    let (text, open_at) = shown(80, Some("event-4"));
    // The title is the first match of the search, the first turn the second, the mark the third.
    assert_eq!(open_at, 3);
    assert!(text.contains("▶ #4\n  · cargo test …"), "{text}");
    let (text, open_at) = shown(80, Some("event-6"));
    assert_eq!(open_at, 3, "a prompt is cited by its turn");
    assert!(!text.contains('▶'), "{text}");
}

#[test]
fn turns_are_json_for_programs() {
    let events = events();
    let turns = read_conversation(&events, &cut_turns(&plain_events(&events)));
    let json = turn_json(&turns[0]);
    assert_eq!(json["number"], 1);
    let outcomes: Vec<&str> = json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["unknown", "failed", "unknown", "rejected", "failed"]);
    let objection = &json["steps"][5];
    assert_eq!(
        (objection["kind"].as_str(), objection["text"].as_str()),
        (Some("objection"), Some("keep the name `is_letter`"))
    );
}
