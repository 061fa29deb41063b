//! Peculiarities of each protocol: prefix caches, dialects and unusual endpoints.

use serde_json::{Value, json};
use tome_llm::{ChatMessage, ChatModel, ChatRequest, OpenAiModel, StopReason, SystemPart};
use tome_testkit::ScriptedAnswer;

use crate::chat::{Protocol, ask, chat_request};
use crate::server::{KEY, Server};

fn part(text: &str, cache_until_here: bool) -> SystemPart {
    SystemPart { text: text.to_owned(), cache_breakpoint: cache_until_here }
}

fn sent(protocol: Protocol, chat_request: &ChatRequest) -> tome_testkit::ModelRequest {
    let server = Server::start(vec![ScriptedAnswer::text("yes")]);
    ask(&*protocol.model(&server.endpoint()), chat_request).0.unwrap();
    server.requests().remove(0)
}

/// Collects the cache breakpoints of a request.
fn cache_ends(body: &Value) -> Vec<String> {
    fn collect_ends(value: &Value, path: &str, ends: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("cache_control") {
                    ends.push(path.to_owned());
                }
                fields
                    .iter()
                    .for_each(|(name, one)| collect_ends(one, &format!("{path}/{name}"), ends));
            }
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(i, one)| collect_ends(one, &format!("{path}/{i}"), ends));
            }
            _ => {}
        }
    }
    let mut ends = Vec::new();
    collect_ends(body, "", &mut ends);
    ends
}

#[test]
fn a_message_is_sent_with_key_version_and_cache() {
    let request = sent(Protocol::Anthropic, &chat_request());
    assert_eq!(request.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        request.body,
        json!({
            "model": "m", "max_tokens": 64, "stream": true,
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "What did we decide?", "cache_control": cached},
            ]}],
            "tools": [{
                "name": "recall_memory", "description": "finds it again",
                "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
                "cache_control": cached,
            }],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": cached}],
        })
    );
}

#[test]
fn at_most_four_cache_breakpoints_are_set() {
    let system = (0..6).map(|number| part(&format!("part {number}"), true)).collect();
    let many = ChatRequest { system, ..chat_request() };
    let ends = cache_ends(&sent(Protocol::Anthropic, &many).body);
    assert_eq!(ends, ["/messages/0/content/0", "/tools/0", "/system/4", "/system/5"]);
    let without = ChatRequest {
        tools: Vec::new(),
        system: vec![part("a", true), part("b", false)],
        ..chat_request()
    };
    let request = sent(Protocol::Anthropic, &without);
    assert_eq!(cache_ends(&request.body), ["/messages/0/content/0", "/system/0"]);
    assert!(request.body.get("tools").is_none());
}

#[test]
fn turns_alternate_and_empty_ones_are_dropped() {
    let messages = vec![
        ChatMessage::user("one"),
        ChatMessage::user("two"),
        ChatMessage::assistant("  "),
        ChatMessage::user(""),
        ChatMessage::user("three"),
        ChatMessage::assistant("four"),
        ChatMessage::user("five"),
    ];
    let chat_request = ChatRequest { messages, system: vec![part(" ", true)], ..chat_request() };
    let body = sent(Protocol::Anthropic, &chat_request).body;
    assert!(body.get("system").is_none());
    let turns = body["messages"].as_array().unwrap();
    let roles: Vec<_> = turns.iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "user", "assistant", "user"]);
    assert_eq!(turns[0]["content"].as_array().unwrap().len(), 2);
    let body = sent(Protocol::OpenAi, &chat_request).body;
    assert_eq!(body["messages"].as_array().unwrap().len(), 5, "{body}");
}

#[test]
fn a_completion_requests_its_usage() {
    let request = sent(Protocol::OpenAi, &chat_request());
    assert_eq!(request.line, "POST /chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        request.body,
        json!({
            "model": "m", "stream": true,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "What did we decide?"},
            ],
            "max_tokens": 64, "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {
                "name": "recall_memory", "description": "finds it again",
                "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
            }}],
        })
    );
}

#[test]
fn a_dialect_is_learned_once() {
    let server = Server::start(vec![
        ScriptedAnswer::status(400, "Unrecognized request argument supplied: stream_options"),
        ScriptedAnswer::status(400, "Use 'max_completion_tokens' instead of max_tokens."),
        ScriptedAnswer::text("one"),
        ScriptedAnswer::text("two"),
    ]);
    let model = OpenAiModel::new(&server.endpoint(), "m").unwrap();
    for expected in ["one", "two"] {
        let (reply, streamed) = ask(&model, &chat_request());
        assert_eq!(reply.unwrap().text(), expected);
        assert_eq!(streamed, expected);
    }
    let last = &server.requests()[3].body;
    assert_eq!(server.requests().len(), 4);
    assert_eq!(last["max_completion_tokens"], 64);
    assert!(last.get("stream_options").is_none() && last.get("max_tokens").is_none());
    assert_eq!(ChatModel::name(&model), "openai/m");
}

/// Parses the calls of one reply that is sent as chunks.
fn calls_in(chunks: &[Value]) -> Vec<(String, String, String)> {
    let lines = chunks
        .iter()
        .map(|delta| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]})));
    let lines: Vec<String> = lines.chain(["data: [DONE]\n\n".to_owned()]).collect();
    let server = Server::start(vec![ScriptedAnswer::chunks(lines)]);
    let reply = ask(&*Protocol::OpenAi.model(&server.endpoint()), &chat_request()).0.unwrap();
    assert_eq!(reply.stop_reason, StopReason::ToolCalls);
    let calls = reply.tool_calls().cloned();
    calls.map(|call| (call.id, call.name, call.arguments)).collect()
}

#[test]
fn tool_calls_are_separated_for_any_numbering() {
    let call = |fields: Value| json!({"tool_calls": [fields]});
    let row = |id: &str, name: &str, arguments: &str| {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    };
    // The same index for all, different ids.
    let same = calls_in(&[
        call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}})),
        call(json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}})),
    ]);
    assert_eq!(same, [row("a", "f", "{\"x\":1}"), row("b", "g", "{}")]);
    // Neither index nor id, and the arguments are an object.
    let bare = calls_in(&[
        call(json!({"function": {"name": "f", "arguments": {"x": 1}}})),
        call(json!({"function": {"name": "f", "arguments": ""}})),
        call(json!({"function": {"arguments": "{\"y\":2}"}})),
    ]);
    assert_eq!(bare, [row("call_1", "f", "{\"x\":1}"), row("call_2", "f", "{\"y\":2}")]);
    // The name arrives late, and twice.
    let late = calls_in(&[
        call(json!({"index": 0, "id": "a"})),
        call(json!({"index": 0, "function": {"name": "f"}})),
        call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})),
    ]);
    assert_eq!(late, [row("a", "f", "{}")]);
    // Two calls with the same id.
    let twins = calls_in(&[
        call(json!({"index": 0, "id": "a", "function": {"name": "f"}})),
        call(json!({"index": 1, "id": "a", "function": {"name": "g"}})),
    ]);
    assert_eq!(twins, [row("a", "f", "{}"), row("call_2", "g", "{}")]);
}

#[test]
fn a_reply_with_a_finish_reason_is_complete() {
    // No [DONE], and the connection is not closed properly.
    let chunk = json!({"choices": [{"delta": {"content": "all"}, "finish_reason": "stop"}]});
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n";
    let server = Server::start(vec![ScriptedAnswer::raw(format!("{head}data: {chunk}\n\n"))]);
    let reply = ask(&*Protocol::OpenAi.model(&server.endpoint()), &chat_request()).0.unwrap();
    assert_eq!((reply.text().as_str(), reply.stop_reason), ("all", StopReason::EndTurn));
}

#[test]
fn a_refusal_is_text_and_a_stop_reason() {
    let chunk = json!({"choices": [{"delta": {"refusal": "I would rather not"}}]});
    let server =
        Server::start(vec![ScriptedAnswer::chunks([format!("data: {chunk}\n\ndata: [DONE]\n\n")])]);
    let reply = ask(&*Protocol::OpenAi.model(&server.endpoint()), &chat_request()).0.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.stop_reason),
        ("I would rather not", StopReason::Refusal)
    );
}
