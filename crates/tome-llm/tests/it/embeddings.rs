//! Embeddings from an endpoint: requests, responses and rejected responses.

use std::time::Duration;

use serde_json::{Value, json};
use tome_llm::{CancelToken, EmbeddingsClient, ModelEndpoint, ModelFailure, Retry};
use tome_testkit::ScriptedAnswer;

use crate::server::{KEY, Server, answer};

fn at(endpoint: &ModelEndpoint, dimensions: usize, attempts: u32) -> EmbeddingsClient {
    let retry = Retry { attempts, base: Duration::from_millis(1), seed: 1 };
    EmbeddingsClient::new(endpoint, "small", dimensions, retry, CancelToken::default()).unwrap()
}

fn body(vectors: &[(u64, Value)]) -> String {
    let data: Vec<Value> = vectors
        .iter()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    json!({"object": "list", "data": data, "model": "small"}).to_string()
}

fn failure_of(body: impl Into<String>) -> String {
    let server = Server::answering(200, body);
    let failure = at(&server.endpoint(), 2, 3).embed(&["one", "two"]).unwrap_err();
    assert!(matches!(failure, ModelFailure::Malformed { .. }), "{failure:?}");
    // Not retried, because the same request would fail again.
    assert_eq!(server.requests().len(), 1);
    failure.to_string()
}

#[test]
fn vectors_keep_the_order_of_the_texts_and_have_length_one() {
    let vectors = [(1, json!([0, -2.0])), (0, json!([3.0, 4.0]))];
    let server = Server::answering(200, body(&vectors));
    let embeddings = at(&server.endpoint(), 2, 1);
    let made = embeddings.embed(&["one", " ", "two"]).unwrap();
    assert_eq!(made, [vec![0.6, 0.8], vec![0.0, 0.0], vec![0.0, -1.0]]);
    assert_eq!((embeddings.name(), embeddings.dimensions()), ("openai/small/2", 2));
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /embeddings HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let sent = json!({"model": "small", "input": ["one", "two"], "encoding_format": "float"});
    assert_eq!(request.body, sent);
}

#[test]
fn an_empty_batch_sends_no_request() {
    let server = Server::start(Vec::new());
    let embeddings = at(&server.endpoint(), 2, 1);
    assert!(embeddings.embed(&[]).unwrap().is_empty());
    assert_eq!(embeddings.embed(&["", "\n"]).unwrap(), [[0.0, 0.0], [0.0, 0.0]]);
    assert!(server.requests().is_empty());
}

#[test]
fn large_batches_are_split_and_long_texts_truncated() {
    let answer = |count: u64| -> ScriptedAnswer {
        let vectors: Vec<_> = (0..count).map(|i| (i, json!([1.0, i]))).collect();
        answer(200, Vec::new(), body(&vectors))
    };
    let server = Server::start(vec![answer(64), answer(6)]);
    let long = "é".repeat(10_000);
    let texts: Vec<&str> = (0..70).map(|_| long.as_str()).collect();
    let made = at(&server.endpoint(), 2, 1).embed(&texts).unwrap();
    assert_eq!(made.len(), 70);
    assert_eq!(made[64], [1.0, 0.0]);
    assert_eq!(server.requests()[0].body["input"][0].as_str().unwrap().len(), 16_000);
}

#[test]
fn a_recovering_endpoint_is_retried() {
    let server = Server::start(vec![
        answer(429, vec![("retry-after", "0.01")], String::new()),
        answer(500, Vec::new(), String::new()),
        answer(200, Vec::new(), body(&[(0, json!([1.0, 0.0]))])),
    ]);
    assert_eq!(at(&server.endpoint(), 2, 3).embed(&["one"]).unwrap(), [[1.0, 0.0]]);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn the_last_failure_is_returned_and_a_wrong_key_is_not_retried() {
    let answer = |status| answer(status, Vec::new(), format!("{{\"error\": \"{KEY}\"}}"));
    let server = Server::start(vec![answer(500), answer(500)]);
    let failure = at(&server.endpoint(), 2, 2).embed(&["one"]).unwrap_err();
    assert!(matches!(failure, ModelFailure::Unreachable { .. }), "{failure:?}");
    let server = Server::start(vec![answer(401)]);
    let failure = at(&server.endpoint(), 2, 5).embed(&["one"]).unwrap_err();
    assert!(matches!(failure, ModelFailure::Unauthorized { .. }), "{failure:?}");
    assert!(!failure.to_string().contains(KEY));
}

#[test]
fn a_silent_endpoint_times_out() {
    let server = Server::start(vec![ScriptedAnswer::silence()]);
    let endpoint = ModelEndpoint { timeout: Duration::from_millis(250), ..server.endpoint() };
    let failure = at(&endpoint, 2, 1).embed(&["one"]).unwrap_err();
    assert_eq!(failure, ModelFailure::TimedOut { after: Duration::from_millis(250) });
}

#[test]
fn unusable_vectors_are_rejected() {
    assert!(failure_of("<html>").contains("not JSON"));
    assert!(failure_of("{}").contains("no vectors"));
    assert!(failure_of(body(&[(0, json!([1, 2]))])).contains("1 vectors for 2 texts"));
    let second = |vector: Value| failure_of(body(&[(0, json!([1, 2])), (1, vector)]));
    assert!(second(json!([1, 2, 3])).contains("3 dimensions instead of 2"));
    assert!(second(json!([1, "x"])).contains("not a number"));
    assert!(second(json!([1e300, 1e300])).contains("too large"));
    assert!(second(json!("AAAA")).contains("no vectors"));
    let twice = body(&[(1, json!([1, 2])), (1, json!([1, 2]))]);
    assert!(failure_of(twice).contains("two vectors"));
    let beyond = body(&[(0, json!([1, 2])), (7, json!([1, 2]))]);
    assert!(failure_of(beyond).contains("not sent"));
}

#[test]
fn invalid_settings_are_reported() {
    let server = Server::start(Vec::new());
    let retry = Retry { attempts: 1, base: Duration::ZERO, seed: 0 };
    let made = EmbeddingsClient::new(&server.endpoint(), "small", 0, retry, CancelToken::default());
    assert!(matches!(made, Err(ModelFailure::Misconfigured(_))));
    let nowhere = ModelEndpoint { base_url: "ftp://x".to_owned(), ..server.endpoint() };
    let made = EmbeddingsClient::new(&nowhere, "small", 2, retry, CancelToken::default());
    assert!(matches!(made, Err(ModelFailure::Misconfigured(_))));
}
