//! Chat completions: requests, responses and adaptation to dialects.

use serde_json::{Value, json};
use tome_llm::{
    Completion, CompletionRequest, LanguageModel, ModelEndpoint, ModelFailure, OpenAiModel,
};

use crate::server::{KEY, Server, answer, prompt};

fn choice(finish_reason: &str, message: &Value) -> String {
    json!({
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 7},
    })
    .to_string()
}

fn completion(text: &str) -> String {
    choice("stop", &json!({"role": "assistant", "content": text}))
}

fn ask(server: &Server) -> Result<Completion, ModelFailure> {
    OpenAiModel::new(&server.endpoint(), "small").unwrap().complete(&prompt())
}

#[test]
fn a_response_has_text_and_usage() {
    let server = Server::answering(200, completion("{}"));
    assert_eq!(
        ask(&server).unwrap(),
        Completion { text: "{}".to_owned(), input_tokens: 20, output_tokens: 7 }
    );
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        request.body,
        json!({
            "model": "small", "max_tokens": 64, "response_format": {"type": "json_object"},
            "messages": [
                {"role": "system", "content": "Summarise."},
                {"role": "user", "content": "We fixed the parser."},
            ],
        })
    );
}

#[test]
fn no_key_sends_no_header_and_plain_text_no_format() {
    let server = Server::answering(200, completion("yes"));
    let endpoint = ModelEndpoint { key: None, ..server.endpoint() };
    let plain = CompletionRequest { json: false, ..prompt() };
    OpenAiModel::new(&endpoint, "small").unwrap().complete(&plain).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
    assert_eq!(server.requests()[0].body.get("response_format"), None);
}

#[test]
fn missing_token_counts_are_estimated() {
    let body = json!({"choices": [{"message": {"content": "seven wooden words"}}]});
    let done = ask(&Server::answering(200, body.to_string())).unwrap();
    assert!(done.input_tokens > 0 && done.output_tokens > 0, "{done:?}");
}

#[test]
fn truncated_refused_and_empty_answers_are_failures() {
    let failed = |reason: &str, message: Value| {
        ask(&Server::answering(200, choice(reason, &message))).unwrap_err()
    };
    let text = json!({"content": "{\"title\": \"hal"});
    assert_eq!(failed("length", text.clone()), ModelFailure::Truncated { tokens_max: 64 });
    assert!(matches!(failed("content_filter", text), ModelFailure::Refused { .. }));
    let refusal = json!({"content": null, "refusal": "I would rather not"});
    assert_eq!(
        failed("stop", refusal),
        ModelFailure::Refused { message: "I would rather not".to_owned() }
    );
    assert!(matches!(failed("stop", json!({"content": ""})), ModelFailure::Malformed { .. }));
    let nothing = ask(&Server::answering(200, "{\"choices\": []}")).unwrap_err();
    assert!(matches!(nothing, ModelFailure::Malformed { .. }));
}

#[test]
fn a_dialect_is_learned_once() {
    let refused =
        |message: &str| answer(400, Vec::new(), json!({"error": {"message": message}}).to_string());
    let server = Server::start(vec![
        refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refused("'response_format.type' must be 'json_schema' or 'text'"),
        answer(200, Vec::new(), completion("one")),
        answer(200, Vec::new(), completion("two")),
    ]);
    let model = OpenAiModel::new(&server.endpoint(), "small").unwrap();
    assert_eq!(model.complete(&prompt()).unwrap().text, "one");
    assert_eq!(model.complete(&prompt()).unwrap().text, "two");
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    let last = &requests[3].body;
    assert_eq!(last["max_completion_tokens"], 64);
    assert!(last.get("max_tokens").is_none() && last.get("response_format").is_none());
}

#[test]
fn a_repeated_refusal_ends_the_attempts() {
    let message = json!({"error": {"message": "max_completion_tokens is too large"}}).to_string();
    let again = || answer(400, Vec::new(), message.clone());
    let server = Server::start(vec![again(), again(), again()]);
    assert!(matches!(ask(&server).unwrap_err(), ModelFailure::Rejected { status: 400, .. }));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_unknown_model_is_named_in_the_error() {
    // Ollama's wording.
    let server = Server::answering(404, "{\"error\": \"model 'small' not found, try pulling it\"}");
    assert_eq!(
        ask(&server).unwrap_err().to_string(),
        "no such model or endpoint: 404 model 'small' not found, try pulling it"
    );
}
