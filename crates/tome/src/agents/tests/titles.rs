//! The titles that agents give their sessions.

use serde_json::{Map, Value, json};
use tome_model::{Agent, Millis};

use super::parse_hook;
use crate::agents::transcript::{
    ChatHeader, GeminiChatReader, OpenCodeSession, build_transcript_reader,
};
use crate::agents::transcript_record::{RecordOutcome, TranscriptOrigin};

fn origin(agent: &str) -> TranscriptOrigin {
    TranscriptOrigin {
        agent: Agent::parse(agent).unwrap(),
        path: "/t.jsonl".to_owned(),
        session: "s".to_owned(),
        cwd: "/app".to_owned(),
        at: Millis(1_000),
    }
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

fn titles(steps: Vec<RecordOutcome>) -> Vec<String> {
    let title = |step| match step {
        RecordOutcome::Event(draft) => draft.meta.get("session_title")?.as_str().map(str::to_owned),
        RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => None,
    };
    steps.into_iter().filter_map(title).collect()
}

/// The titles in a transcript of these records.
fn read(agent: &str, records: &[Value]) -> Vec<String> {
    let mut reader = build_transcript_reader(origin(agent), None);
    let mut steps = Vec::new();
    records.iter().for_each(|record| reader.read_record(map(record.clone()), &mut steps));
    reader.finish(&mut steps);
    titles(steps)
}

#[test]
fn the_last_title_of_a_claude_code_session_is_read_once() {
    let prompt = json!({"type": "user", "sessionId": "s", "uuid": "u1", "cwd": "/app",
        "timestamp": "2026-11-15T09:30:00Z", "message": {"role": "user", "content": "hello"}});
    let named = |title: &str| json!({"type": "ai-title", "aiTitle": title, "sessionId": "s"});
    let custom = json!({"type": "custom-title", "customTitle": "Lexer work", "sessionId": "s"});
    let summary = |leaf: &str| json!({"type": "summary", "summary": "Fix it", "leafUuid": leaf});
    let other = json!({"type": "ai-title", "aiTitle": "Other", "sessionId": "o"});
    let named_twice = [prompt.clone(), named("First"), named("Second"), named("Second"), other];
    assert_eq!(read("claude-code", &named_twice), ["Second"]);
    let renamed = [prompt.clone(), custom, named("Second")];
    assert_eq!(read("claude-code", &renamed), ["Lexer work"]);
    assert_eq!(read("claude-code", &[prompt.clone(), summary("u1")]), ["Fix it"]);
    let of_another_session = [summary("u0"), prompt];
    assert_eq!(read("claude-code", &of_another_session), Vec::<String>::new());
    assert_eq!(read("claude-code", &[named("Nothing asked")]), Vec::<String>::new());
}

#[test]
fn codex_and_gemini_name_their_sessions() {
    let meta = json!({"timestamp": "2026-11-15T09:30:00Z", "type": "session_meta",
        "payload": {"id": "s", "cwd": "/app"}});
    let name = json!({"timestamp": "2026-11-15T09:31:00Z", "type": "event_msg",
        "payload": {"type": "thread_name_updated", "thread_name": "Lexer work"}});
    assert_eq!(read("codex", &[meta, name]), ["Lexer work"]);

    let mut header = ChatHeader::default();
    header.merge(&map(json!({"sessionId": "s", "summary": "Lexer work"})));
    let mut chat = GeminiChatReader::new(origin("gemini"), &header);
    let mut steps = Vec::new();
    chat.finish(&mut steps);
    assert_eq!(steps, [], "a chat without messages");
    let message = json!({"id": "m", "type": "user", "content": "hello"});
    chat.read_message(map(message), &mut steps);
    chat.finish(&mut steps);
    assert_eq!(titles(steps), ["Lexer work"]);
}

#[test]
fn the_default_title_of_an_opencode_session_is_ignored() {
    let row = |title: &str| {
        let mut steps = Vec::new();
        let info = json!({"id": "s", "directory": "/app", "title": title});
        OpenCodeSession::new(&origin("opencode"), map(info), &mut steps);
        titles(steps)
    };
    assert_eq!(row("New session - 2026-11-15T09:30:00.000Z"), Vec::<String>::new());
    assert_eq!(row("Lexer work"), ["Lexer work"]);
    let updated = |title: &str| {
        let info = json!({"id": "s", "title": title});
        let event =
            json!({"type": "session.updated", "properties": {"sessionID": "s", "info": info}});
        let payload = json!({"event": event, "directory": "/app"}).to_string();
        let drafts = parse_hook("opencode", None, payload);
        titles(drafts.into_iter().map(|draft| RecordOutcome::Event(Box::new(draft))).collect())
    };
    assert_eq!(updated("New session - 2026-11-15T09:30:00.000Z"), Vec::<String>::new());
    assert_eq!(updated("Lexer work"), ["Lexer work"]);
}
