//! No input can break a hook, and everything readable is parsed.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tome_model::{Agent, EventKind, EventLine, limits};

use super::{line, one, parse_hook, parse_hook_with};

const PROMPT: &str = r#"{"session_id":"s1","cwd":"/home/dev/app","hook_event_name":"UserPromptSubmit","prompt_id":"p1","prompt":"PROMPT"}"#;

fn prompt_with(text: &str) -> String {
    PROMPT.replace("PROMPT", text)
}

#[test]
fn an_empty_payload_becomes_no_draft() {
    for agent in Agent::KNOWN {
        for payload in ["", " \n\t", "\u{feff}", "\0\0"] {
            assert_eq!(parse_hook(agent, Some("Stop"), payload), []);
        }
    }
}

#[test]
fn a_payload_that_is_not_an_object_is_kept_verbatim() {
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let deep = format!(r#"{{"session_id":"s1","deep":{deep}}}"#);
    for agent in Agent::KNOWN {
        for payload in ["not json", "[1,2]", "\"Stop\"", "{\"cut\": \"of", &deep] {
            let draft = one(agent, payload);
            assert_eq!(draft.kind, EventKind::Unknown);
            assert_eq!(draft.text, payload);
            assert_eq!(draft.session.as_str(), "unknown");
            assert_eq!(draft.cwd, "/home/dev/elsewhere");
        }
    }
}

#[test]
fn almost_valid_json_is_parsed() {
    let check = |payload: &[u8], text: &str| {
        let draft = one("claude-code", payload);
        assert_eq!(draft.kind, EventKind::UserMessage, "{}", line(&draft));
        assert_eq!(draft.text, text);
    };
    check(format!("\u{feff}\r\n {}\n\n", prompt_with("hi")).as_bytes(), "hi");
    check(prompt_with("hi").replace(',', ",\n  ").as_bytes(), "hi");
    check(prompt_with(r"a \ud83d b").as_bytes(), "a \u{fffd} b");
    check(prompt_with(r"a \ude00\ud83d").as_bytes(), "a \u{fffd}\u{fffd}");
    check(prompt_with(r"\ud83d\u0041 \ud83d\ude00").as_bytes(), "\u{fffd}A 😀");
    check(prompt_with(r"a \u0000 b").as_bytes(), "a \0 b");
    check(prompt_with("a\nb\0c").as_bytes(), "a\nb\0c");
    check(prompt_with(r"C:\dev \u12").as_bytes(), r"C:\dev \u12");
    check(&[prompt_with("é").as_bytes(), b"\xff"].concat(), "é");
    let broken: Vec<u8> =
        prompt_with("a?b").bytes().map(|b| if b == b'?' { 0xC3 } else { b }).collect();
    check(&broken, "a\u{fffd}b");
}

#[test]
fn text_after_the_object_is_kept() {
    let draft = one("claude-code", format!("{} and more", prompt_with("hi")));
    assert_eq!(draft.kind, EventKind::UserMessage);
    assert_eq!(draft.meta["trailing"], "and more");
}

#[test]
fn a_megabyte_of_text_is_not_cut() {
    let long = "lexer ".repeat(175_000);
    assert_eq!(one("codex", prompt_with(&long)).text, long);
    let result = json!({"session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cat"}, "tool_response": {"stdout": long}, "tool_use_id": "t1"});
    let draft = one("claude-code", result.to_string());
    assert_eq!(draft.tool.unwrap().output["stdout"], long);
}

#[test]
fn a_large_unknown_payload_goes_into_the_text() {
    let many: Vec<u32> = (0..20_000).collect();
    let payload = json!({"session_id": "s1", "hook_event_name": "Future", "many": many});
    let draft = one("claude-code", payload.to_string());
    assert_eq!(draft.meta["event"], "Future");
    assert!(draft.text.contains("19999"));
    let payload =
        json!({"session_id": "s1", "hook_event_name": "Future", "message": "m", "many": many});
    let draft = one("claude-code", payload.to_string());
    assert_eq!(draft.text, "m");
    check_fits(&draft);
}

#[test]
fn sanitized_session_ids_stay_distinct() {
    let session = |id: &str| {
        let payload = json!({"session_id": id, "hook_event_name": "Stop"});
        one("claude-code", payload.to_string()).session
    };
    let long = "x".repeat(400);
    assert_eq!(session(" s 1 ").as_str(), "s 1");
    assert!(session("a\nb").as_str().starts_with("ab-"));
    assert_ne!(session("a\nb"), session("ab"));
    assert_ne!(session(&format!("{long}1")), session(&format!("{long}2")));
    assert_eq!(session("").as_str(), "unknown");
}

#[test]
fn a_relative_directory_and_an_implausible_time_are_ignored() {
    let payload = json!({"session_id": "s1", "hook_event_name": "SessionStart", "cwd": "app", "timestamp": 17});
    let draft = one("gemini", payload.to_string());
    assert_eq!(draft.cwd, "/home/dev/elsewhere");
    assert_eq!(draft.at, super::NOW);
}

/// A draft must survive a round trip through the spool, or it would be lost there.
fn check_fits(draft: &tome_model::Draft) {
    let json = EventLine::from(draft.clone()).to_json();
    let back = EventLine::parse(&json).unwrap().into_draft();
    assert_eq!(back.as_ref(), Ok(draft), "{json}");
    assert!(serde_json::to_string(&draft.meta).unwrap().len() <= limits::META_BYTES_MAX);
}

/// Names that the parsers look up, as fields and as values.
const NAMES: &[&str] = &[
    "session_id",
    "sessionId",
    "sessionID",
    "cwd",
    "directory",
    "hook_event_name",
    "timestamp",
    "prompt",
    "prompt_id",
    "turn_id",
    "source",
    "reason",
    "trigger",
    "tool_name",
    "toolName",
    "tool_input",
    "toolArgs",
    "tool_response",
    "toolResult",
    "tool_result",
    "llmContent",
    "returnDisplay",
    "error",
    "text",
    "message",
    "parts",
    "part",
    "type",
    "state",
    "status",
    "time",
    "end",
    "created",
    "input",
    "output",
    "event",
    "properties",
    "ev",
    "info",
    "id",
    "callID",
    "tool",
    "metadata",
    "content",
    "synthetic",
    "filename",
    "stop_hook_active",
    "last_assistant_message",
    "transcriptPath",
    "transcript_path",
    "prompt_response",
    "agent_id",
    "agentId",
    "response",
    "textResultForLlm",
    "resultType",
    "compact_summary",
    "data",
];
const VALUES: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
    "BeforeAgent",
    "AfterTool",
    "AfterAgent",
    "PreCompress",
    "postToolUse",
    "agentStop",
    "userPromptSubmitted",
    "session.created",
    "chat.message",
    "tool.execute.after",
    "message.part.updated",
    "session.idle",
    "session.error",
    "text",
    "file",
    "tool",
    "error",
    "auto",
    "Bash",
    "\"",
    "\\",
    "",
    "<hook_context>",
    "<untrusted_context></untrusted_context>",
    "<tome-memory></tome-memory>",
    "1794735000000",
    "2026-11-15T09:30:00Z",
    "/home/dev/app",
    "\u{0}",
    "é",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 4.0)),
        Just(Value::from(1_794_735_000_000_u64)),
        prop::sample::select(VALUES).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            any_object(inner),
        ]
    })
}

fn any_object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((prop::sample::select(NAMES), inner), 0..8).prop_map(|fields| {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        Value::Object(fields.collect::<Map<_, _>>())
    })
}

proptest! {
    #[test]
    fn any_bytes_become_at_most_one_draft(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for agent in Agent::KNOWN {
            for draft in parse_hook(agent, None, &bytes) {
                check_fits(&draft);
            }
        }
    }

    #[test]
    fn any_object_becomes_at_most_one_draft(
        object in any_object(any_json()),
        event in prop::option::of(prop::sample::select(VALUES)),
        tail in prop::option::of(any_json()),
    ) {
        let payload = object.to_string();
        let tail = tail.map(|record| format!("torn}}\n{record}\n"));
        for agent in Agent::KNOWN.into_iter().chain(["qwen"]) {
            let drafts = parse_hook_with(agent, event, payload.as_bytes(), &|_| tail.clone());
            prop_assert!(drafts.len() <= 1);
            for draft in drafts {
                check_fits(&draft);
            }
        }
    }

    /// Text survives with any characters, even next to broken escapes.
    #[test]
    fn no_character_of_a_prompt_is_lost(text in "\\PC{1,40}") {
        let payload = json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": &text});
        let broken = payload.to_string().replace("\"s1\"", r#""\ud83d""#);
        for payload in [payload.to_string(), broken] {
            let drafts = parse_hook("claude-code", None, payload);
            let texts: String = drafts.iter().map(|draft| draft.text.trim()).collect();
            prop_assert_eq!(texts, text.trim());
        }
    }
}
