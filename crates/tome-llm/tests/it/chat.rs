//! Conversations over both protocols with the same script give the same replies.

use std::time::Duration;

use serde_json::{Value, json};
use tome_llm::{
    AnthropicModel, CancelToken, ChatMessage, ChatModel, ChatRequest, ChatResponse, ContentPart,
    ModelEndpoint, ModelFailure, OpenAiModel, StopReason, StreamEvent, SystemPart, ToolCall,
    ToolDefinition, Usage,
};
use tome_testkit::{ModelRequest, ScriptedAnswer};

use crate::server::{KEY, Server};

pub const BOTH: [Protocol; 2] = [Protocol::Anthropic, Protocol::OpenAi];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Anthropic,
    OpenAi,
}

impl Protocol {
    pub fn model(self, endpoint: &ModelEndpoint) -> Box<dyn ChatModel> {
        match self {
            Self::Anthropic => Box::new(AnthropicModel::new(endpoint, "m").unwrap()),
            Self::OpenAi => Box::new(OpenAiModel::new(endpoint, "m").unwrap()),
        }
    }
}

/// Joins all stream events in one line.
pub fn ask(
    model: &dyn ChatModel,
    chat_request: &ChatRequest,
) -> (Result<ChatResponse, ModelFailure>, String) {
    let mut streamed = String::new();
    let mut on_event = |piece: StreamEvent<'_>| match piece {
        StreamEvent::Text(text) => streamed.push_str(text),
        StreamEvent::ToolCallStart { name } => streamed.push_str(&format!("[{name}]")),
        StreamEvent::Retry => streamed.push_str("[again]"),
    };
    let reply = model.reply(chat_request, &mut on_event, &CancelToken::default());
    (reply, streamed)
}

pub fn chat_request() -> ChatRequest {
    ChatRequest {
        system: vec![SystemPart { text: "Be brief.".to_owned(), cache_breakpoint: true }],
        tools: vec![ToolDefinition {
            name: "recall_memory".to_owned(),
            description: "finds it again".to_owned(),
            schema: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
        }],
        messages: vec![ChatMessage::user("What did we decide?")],
        tokens_max: 64,
    }
}

fn reply_to(protocol: Protocol, answer: ScriptedAnswer) -> (ChatResponse, String, ModelRequest) {
    let server = Server::start(vec![answer]);
    let (reply, streamed) = ask(&*protocol.model(&server.endpoint()), &chat_request());
    (reply.unwrap(), streamed, server.requests().remove(0))
}

fn failure_of(protocol: Protocol, answer: ScriptedAnswer) -> ModelFailure {
    let server = Server::start(vec![answer]);
    ask(&*protocol.model(&server.endpoint()), &chat_request()).0.unwrap_err()
}

#[test]
fn text_is_streamed_and_counted() {
    for protocol in BOTH {
        let answer =
            ScriptedAnswer::text("We chose 記憶, twice.").with_tokens(40, 9).with_cached(60, 0);
        for answer in [answer.clone(), answer.clone().in_pieces_of(3), answer.unstreamed()] {
            let (reply, streamed, request) = reply_to(protocol, answer);
            assert_eq!(reply.text(), "We chose 記憶, twice.", "{protocol:?}");
            assert_eq!(streamed, reply.text());
            assert_eq!(reply.stop_reason, StopReason::EndTurn);
            let usage = Usage { input: 40, cache_read: 60, cache_written: 0, output: 9 };
            assert_eq!(reply.usage, usage);
            assert!(request.wants_stream());
        }
    }
}

#[test]
fn parallel_tool_calls_follow_text() {
    for protocol in BOTH {
        let answer = ScriptedAnswer::text("Let me look.")
            .and_call("recall_memory", &json!({"query": "\"parser\""}))
            .and_call_with("list_notes", "")
            .and_call_with("write_note", "{\"text\": oops");
        let (reply, streamed, _) = reply_to(protocol, answer);
        assert_eq!(streamed, "Let me look.[recall_memory][list_notes][write_note]", "{protocol:?}");
        assert_eq!(reply.stop_reason, StopReason::ToolCalls);
        assert!(matches!(&reply.parts[0], ContentPart::Text(text) if text == "Let me look."));
        let calls: Vec<_> =
            reply.tool_calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        let query = "{\"query\":\"\\\"parser\\\"\"}";
        let odd = "{\"text\": oops";
        let expected = [("recall_memory", query), ("list_notes", "{}"), ("write_note", odd)];
        assert_eq!(calls, expected, "{protocol:?}");
        let ids: std::collections::HashSet<_> = reply.tool_calls().map(|call| &call.id).collect();
        assert_eq!(ids.len(), 3, "{protocol:?}");
    }
}

#[test]
fn an_unstreamed_reply_may_call_tools() {
    for protocol in BOTH {
        let answer = ScriptedAnswer::call("recall_memory", &json!({"query": "x"})).unstreamed();
        let (reply, streamed, _) = reply_to(protocol, answer);
        assert_eq!(
            (streamed.as_str(), reply.stop_reason),
            ("[recall_memory]", StopReason::ToolCalls),
            "{protocol:?}"
        );
        let arguments = reply.tool_calls().next().unwrap().arguments.clone();
        assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), json!({"query": "x"}));
    }
}

#[test]
fn connections_are_reused() {
    for protocol in BOTH {
        let server =
            Server::start((0..20).map(|_| ScriptedAnswer::text("again and again")).collect());
        let model = protocol.model(&server.endpoint());
        // Whether the last chunk arrives in time varies, but not in twenty of twenty attempts.
        for _ in 0..20 {
            assert_eq!(ask(&*model, &chat_request()).0.unwrap().text(), "again and again");
        }
        assert!(server.model.connections() < 20, "{protocol:?}");
    }
}

#[test]
fn stop_reasons_are_mapped() {
    for protocol in BOTH {
        assert_eq!(
            reply_to(protocol, ScriptedAnswer::text("half a").cut_off()).0.stop_reason,
            StopReason::MaxTokens
        );
        assert_eq!(
            reply_to(protocol, ScriptedAnswer::text("no").refused()).0.stop_reason,
            StopReason::Refusal
        );
        let cut_call = ScriptedAnswer::text("so").and_call_with("f", "{\"a\": ").cut_off();
        let (reply, ..) = reply_to(protocol, cut_call);
        assert_eq!(reply.stop_reason, StopReason::MaxTokens);
        assert_eq!(reply.tool_calls().next().unwrap().arguments, "{\"a\": ");
    }
}

#[test]
fn missing_usage_is_estimated() {
    for protocol in BOTH {
        let answer = ScriptedAnswer::text("seven wooden words").without_usage();
        for answer in [answer.clone(), answer.unstreamed()] {
            let (reply, ..) = reply_to(protocol, answer);
            let about = Usage {
                input: chat_request().estimate_tokens_conservatively(),
                output: 6,
                ..Usage::default()
            };
            assert_eq!(reply.usage, about, "{protocol:?}");
        }
    }
}

#[test]
fn an_interrupted_reply_is_a_transient_failure() {
    for protocol in BOTH {
        for pieces in 0..4 {
            let answer = ScriptedAnswer::text("one two three four").broken_off_after(pieces);
            let failure = failure_of(protocol, answer);
            assert!(failure.is_transient(), "{protocol:?} {pieces}: {failure:?}");
            // Once a reply has begun, the provider bills it.
            assert!(pieces == 0 || failure.may_be_billed(), "{protocol:?} {pieces}: {failure:?}");
        }
    }
}

#[test]
fn failures_are_classified_by_remedy() {
    for protocol in BOTH {
        let failed =
            |status, message: &str| failure_of(protocol, ScriptedAnswer::status(status, message));
        assert!(matches!(failed(401, "wrong key"), ModelFailure::Unauthorized { .. }));
        assert!(matches!(failed(404, "model: m"), ModelFailure::NotFound { .. }));
        assert!(matches!(failed(400, "temperature"), ModelFailure::Rejected { status: 400, .. }));
        assert!(matches!(failed(500, "oh"), ModelFailure::Unreachable { .. }));
        let busy =
            failure_of(protocol, ScriptedAnswer::status(529, "later").header("retry-after", "3"));
        let wanted = Some(Duration::from_secs(3));
        assert!(
            matches!(busy, ModelFailure::Overloaded { retry_after, .. } if retry_after == wanted)
        );
        let echo = failed(401, &format!("not your key: {KEY}"));
        assert!(!format!("{echo:?} {echo}").contains(KEY), "{echo}");
        for nonsense in
            ["", "   ", "<html>gateway</html>", "{}", "{\"choices\": [", "[1]", "data: {"]
        {
            let failure = failure_of(protocol, ScriptedAnswer::http(200, nonsense));
            assert!(
                matches!(
                    failure,
                    ModelFailure::Malformed { .. } | ModelFailure::Interrupted { .. }
                ),
                "{protocol:?} {nonsense:?}: {failure:?}"
            );
        }
    }
}

#[test]
fn a_too_long_conversation_is_a_distinct_error() {
    let coded = json!({"error": {"message": "Please reduce the length.", "code": "context_length_exceeded"}});
    for (status, body) in [
        (400, json!({"error": {"message": "prompt is too long: 215000 tokens > 200000 maximum"}})),
        (
            400,
            json!({"error": {"message": "input length and `max_tokens` exceed context limit: 9 + 9 > 10"}}),
        ),
        (
            413,
            json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
        ),
        (400, coded),
        (
            400,
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400}),
        ),
        (
            400,
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}),
        ),
        (500, json!({"error": "input length exceeds maximum context length"})),
        (
            400,
            json!({"error": {"message": "The decoder prompt (length 9000) is longer than the maximum model length of 8192."}}),
        ),
    ] {
        for protocol in BOTH {
            let failure = failure_of(protocol, ScriptedAnswer::http(status, body.to_string()));
            let is_it = matches!(failure, ModelFailure::ContextTooLong { .. });
            assert!(is_it && !failure.is_transient(), "{body}: {failure:?}");
        }
    }
}

#[test]
fn a_failure_within_a_stream_is_classified() {
    let events =
        |error: Value| ScriptedAnswer::chunks([format!("event: error\ndata: {error}\n\n")]);
    let typed =
        |kind: &str| events(json!({"type": "error", "error": {"type": kind, "message": "so"}}));
    for protocol in BOTH {
        let failed = |answer| failure_of(protocol, answer);
        assert!(matches!(failed(typed("overloaded_error")), ModelFailure::Overloaded { .. }));
        assert!(matches!(failed(typed("rate_limit_exceeded")), ModelFailure::Overloaded { .. }));
        assert!(matches!(failed(typed("api_error")), ModelFailure::Unreachable { .. }));
        assert!(matches!(failed(typed("authentication_error")), ModelFailure::Unauthorized { .. }));
        assert!(matches!(failed(typed("invalid_request_error")), ModelFailure::Rejected { .. }));
        let long = json!({"error": {"code": "context_length_exceeded", "message": "too much"}});
        assert!(matches!(failed(events(long)), ModelFailure::ContextTooLong { .. }));
        let echo = events(json!({"error": {"message": format!("key {KEY}")}}));
        assert!(!failed(echo).to_string().contains(KEY));
    }
}

#[test]
fn an_endless_stream_is_rejected() {
    for protocol in BOTH {
        let failure = failure_of(protocol, ScriptedAnswer::flood());
        assert_eq!(failure.to_string(), "the answer cannot be read: longer than 67108864 bytes");
        let long = format!("data: {}", "x".repeat(2 * 1024 * 1024));
        let failure = failure_of(protocol, ScriptedAnswer::http(200, long));
        assert!(failure.to_string().contains("1048576"), "{failure}");
    }
    let calls: String = (0..300)
        .map(|index| {
            let call =
                json!({"index": index, "id": format!("c{index}"), "function": {"name": "f"}});
            format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
        })
        .collect();
    let failure = failure_of(Protocol::OpenAi, ScriptedAnswer::http(200, calls));
    assert!(failure.to_string().contains("more than 256 parts"), "{failure}");
}

#[test]
fn every_tool_call_can_be_sent_back() {
    let call = |id: &str, name: &str, arguments: &str| {
        ContentPart::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        })
    };
    let result = |id: &str, text: &str, failed| {
        ContentPart::ToolResult(tome_llm::ToolResult { id: id.into(), text: text.into(), failed })
    };
    let mut chat_request = chat_request();
    chat_request.messages.push(ChatMessage {
        role: tome_llm::ChatRole::Assistant,
        parts: vec![
            call("a:1", "read file", "not json"),
            call("b", "list", "[1]"),
            call("c", "x", "{}"),
        ],
    });
    chat_request.messages.push(ChatMessage {
        role: tome_llm::ChatRole::User,
        parts: vec![
            ContentPart::Text("by the way".into()),
            result("a:1", "cannot be parsed", true),
            result("b", "", false),
            result("c", "fine", false),
        ],
    });
    let body = |protocol: Protocol| {
        let server = Server::start(vec![ScriptedAnswer::text("ok")]);
        ask(&*protocol.model(&server.endpoint()), &chat_request).0.unwrap();
        server.requests().remove(0).body
    };
    let sent = body(Protocol::Anthropic);
    assert_eq!(
        sent["messages"][1]["content"][0],
        json!({"type": "tool_use", "id": "a_1", "name": "read_file", "input": {"not_an_object": "not json"}})
    );
    assert!(sent["messages"][1]["content"][1]["input"].is_object());
    let kinds: Vec<_> = sent["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "tool_result", "text"]);
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "a_1");
    assert_eq!(sent["messages"][2]["content"][0]["is_error"], true);

    let sent = body(Protocol::OpenAi);
    let roles: Vec<_> = sent["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "tool", "user"]);
    let arguments = sent["messages"][2]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    assert_eq!(arguments, "{\"not_an_object\":\"not json\"}");
    assert_eq!(sent["messages"][3]["content"], "error: cannot be parsed");
    assert_eq!(sent["messages"][3]["tool_call_id"], "a_1");
}
