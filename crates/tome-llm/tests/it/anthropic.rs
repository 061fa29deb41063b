//! The Messages API: requests, responses and stop reasons.

use serde_json::json;
use tome_llm::{AnthropicModel, Completion, LanguageModel, ModelFailure};

use crate::server::{KEY, Server, answer, prompt};

fn message(stop_reason: &str, text: &str) -> String {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 5},
    })
    .to_string()
}

fn ask(server: &Server) -> Result<Completion, ModelFailure> {
    AnthropicModel::new(&server.endpoint(), "claude-test").unwrap().complete(&prompt())
}

#[test]
fn a_response_has_text_and_usage() {
    let server = Server::answering(200, message("end_turn", "{\"title\": \"done\"}"));
    let done = ask(&server).unwrap();
    assert_eq!(done.text, "{\"title\": \"done\"}");
    assert_eq!((done.input_tokens, done.output_tokens), (15, 5));
}

#[test]
fn the_request_is_a_message_with_key_and_version() {
    let server = Server::answering(200, message("end_turn", "yes"));
    ask(&server).unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/messages HTTP/1.1");
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    assert_eq!(requests[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(
        requests[0].body,
        json!({
            "model": "claude-test", "max_tokens": 64, "system": "Summarise.",
            "messages": [{"role": "user", "content": "We fixed the parser."}],
        })
    );
}

#[test]
fn a_base_url_may_end_in_v1() {
    let server = Server::answering(200, message("end_turn", "yes"));
    let mut endpoint = server.endpoint();
    endpoint.base_url.push_str("/v1/");
    AnthropicModel::new(&endpoint, "claude-test").unwrap().complete(&prompt()).unwrap();
    assert_eq!(server.requests()[0].line, "POST /v1/messages HTTP/1.1");
}

#[test]
fn unexpected_stop_reasons_are_failures() {
    let failed =
        |reason: &str| ask(&Server::answering(200, message(reason, "I cannot"))).unwrap_err();
    assert_eq!(failed("max_tokens"), ModelFailure::Truncated { tokens_max: 64 });
    assert_eq!(failed("refusal"), ModelFailure::Refused { message: "I cannot".to_owned() });
    assert!(matches!(failed("tool_use"), ModelFailure::Malformed { .. }));
    let empty = ask(&Server::answering(200, message("end_turn", " "))).unwrap_err();
    assert!(matches!(empty, ModelFailure::Malformed { .. }));
}

#[test]
fn errors_contain_the_message_of_the_endpoint() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let server = Server::start(vec![answer(529, Vec::new(), overloaded.to_string())]);
    assert_eq!(
        ask(&server).unwrap_err(),
        ModelFailure::Overloaded { retry_after: None, message: "529 Overloaded".to_owned() }
    );
}

#[test]
fn the_name_contains_the_model() {
    let server = Server::start(Vec::new());
    let model = AnthropicModel::new(&server.endpoint(), "claude-test").unwrap();
    assert_eq!(model.name(), "anthropic/claude-test");
}
