//! Failures between client and endpoint, independent of the protocol.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use tome_llm::{ApiKey, Completion, LanguageModel, ModelEndpoint, ModelFailure, OpenAiModel};
use tome_testkit::ScriptedAnswer;

use crate::server::{KEY, Server, answer, prompt};

fn ask_at(endpoint: &ModelEndpoint) -> Result<Completion, ModelFailure> {
    OpenAiModel::new(endpoint, "small")?.complete(&prompt())
}

fn failure_of(reply: ScriptedAnswer) -> ModelFailure {
    ask_at(&Server::start(vec![reply]).endpoint()).unwrap_err()
}

/// A timeout that is long enough for loopback and short enough for a server that never answers.
fn hasty_failure_of(reply: ScriptedAnswer) -> ModelFailure {
    let server = Server::start(vec![reply]);
    ask_at(&ModelEndpoint { timeout: Duration::from_millis(250), ..server.endpoint() }).unwrap_err()
}

fn status(status: u16, headers: Vec<(&str, &str)>) -> ModelFailure {
    failure_of(answer(status, headers, "{\"error\":{\"message\":\"so\"}}".to_owned()))
}

#[test]
fn retry_after_of_a_busy_endpoint_is_read() {
    let after = |name, value| match status(429, vec![(name, value)]) {
        ModelFailure::Overloaded { retry_after, .. } => retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(after("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(after("Retry-After", "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(after("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    for nonsense in ["-1", "NaN", "1e300", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
        assert_eq!(after("retry-after", nonsense), None, "{nonsense}");
    }
}

#[test]
fn statuses_are_classified_by_remedy() {
    use ModelFailure::{NotFound, Overloaded, Rejected, Unauthorized, Unreachable};
    assert!(matches!(status(503, Vec::new()), Overloaded { retry_after: None, .. }));
    assert!(matches!(status(500, Vec::new()), Unreachable { .. }));
    assert!(matches!(status(502, Vec::new()), Unreachable { .. }));
    assert!(matches!(status(401, Vec::new()), Unauthorized { .. }));
    assert!(matches!(status(403, Vec::new()), Unauthorized { .. }));
    assert!(matches!(status(404, Vec::new()), NotFound { .. }));
    assert!(matches!(status(413, Vec::new()), Rejected { status: 413, .. }));
    assert!(matches!(
        status(302, vec![("location", "http://elsewhere.invalid/")]),
        NotFound { .. }
    ));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Server::answering(200, "{}");
    let location = elsewhere.base_url.as_str();
    let failure = failure_of(answer(307, vec![("location", location)], String::new()));
    assert!(matches!(failure, ModelFailure::NotFound { .. }), "{failure:?}");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn silent_and_slow_responses_time_out() {
    let timed_out = ModelFailure::TimedOut { after: Duration::from_millis(250) };
    assert_eq!(hasty_failure_of(ScriptedAnswer::silence()), timed_out);
    assert_eq!(hasty_failure_of(ScriptedAnswer::drip()), timed_out);
}

#[test]
fn an_oversized_response_is_rejected() {
    let failure = failure_of(ScriptedAnswer::flood());
    assert_eq!(failure.to_string(), "the answer cannot be read: longer than 1048576 bytes");
}

#[test]
fn chunked_responses_are_joined() {
    let body = json!({"choices": [{"message": {"content": "数据 in parts"}}]}).to_string();
    let (head, tail) = body.split_once("数据").unwrap();
    let parts = vec![head.to_owned(), "数据".to_owned(), tail.to_owned()];
    let server = Server::start(vec![ScriptedAnswer::chunks(parts)]);
    assert_eq!(ask_at(&server.endpoint()).unwrap().text, "数据 in parts");
}

#[test]
fn an_unparsable_response_is_malformed() {
    let malformed = |reply| {
        let failure = failure_of(reply);
        assert!(matches!(failure, ModelFailure::Malformed { .. }), "{failure:?}");
    };
    malformed(answer(200, Vec::new(), "{\"choices\": [".to_owned()));
    malformed(answer(200, Vec::new(), "<html>gateway</html>".to_owned()));
    malformed(answer(200, Vec::new(), "null".to_owned()));
    malformed(ScriptedAnswer::raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec()));
    malformed(ScriptedAnswer::raw(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
    ));
}

#[test]
fn an_interrupted_response_is_a_failure() {
    let failure =
        failure_of(ScriptedAnswer::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{".to_vec()));
    assert!(
        matches!(failure, ModelFailure::Unreachable { .. } | ModelFailure::Malformed { .. }),
        "{failure:?}"
    );
    let failure = failure_of(ScriptedAnswer::raw(Vec::new()));
    assert!(matches!(failure, ModelFailure::Unreachable { .. }), "{failure:?}");
}

#[test]
fn a_refused_connection_is_reported_as_unreachable() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = |base_url: String| ModelEndpoint {
        base_url,
        key: None,
        timeout: Duration::from_secs(5),
        proxy: None,
    };
    let refused = ask_at(&endpoint(format!("http://127.0.0.1:{port}"))).unwrap_err();
    assert!(matches!(refused, ModelFailure::Unreachable { .. }), "{refused:?}");
    // A configured proxy is used.
    let proxied = ModelEndpoint {
        proxy: Some(format!("http://127.0.0.1:{port}")),
        ..endpoint("http://model.invalid".to_owned())
    };
    let refused = ask_at(&proxied).unwrap_err();
    assert!(matches!(refused, ModelFailure::Unreachable { .. }), "{refused:?}");
}

#[test]
fn https_addresses_use_tls() {
    // The server does not speak TLS, so the handshake fails; a plain request would be answered.
    let server = Server::start(vec![ScriptedAnswer::raw(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())]);
    let base_url = server.base_url.replace("http://", "https://");
    let timeout = Duration::from_millis(250);
    let failure = ask_at(&ModelEndpoint { base_url, timeout, ..server.endpoint() }).unwrap_err();
    assert!(failure.is_transient(), "{failure:?}");
    assert!(server.requests().iter().all(|request| request.body.is_null()));
}

#[test]
fn the_key_is_never_shown() {
    let echo = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\"}}}}");
    let server = Server::answering(401, echo);
    let endpoint = server.endpoint();
    let model = OpenAiModel::new(&endpoint, "small").unwrap();
    let failure = model.complete(&prompt()).unwrap_err();
    assert_eq!(
        failure,
        ModelFailure::Unauthorized { message: "401 Incorrect API key provided: ***.".to_owned() }
    );
    for shown in [format!("{endpoint:?}"), format!("{model:?}"), format!("{failure:?}")] {
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[test]
fn a_long_error_message_is_truncated() {
    let failure = failure_of(answer(500, Vec::new(), "記憶\n".repeat(100_000)));
    assert!(failure.to_string().len() < 400, "{failure}");
}

#[test]
fn invalid_settings_are_rejected_before_any_request() {
    let server = Server::start(Vec::new());
    let refused = |endpoint: &ModelEndpoint| {
        let failure = OpenAiModel::new(endpoint, "small").unwrap_err();
        assert!(matches!(failure, ModelFailure::Misconfigured(_)), "{failure:?}");
        failure.to_string()
    };
    for base_url in
        ["", "localhost:11434", "ftp://host/", "http://", "http://a b/", "http://h/?q=1"]
    {
        refused(&ModelEndpoint { base_url: base_url.to_owned(), ..server.endpoint() });
    }
    let password = "http://me:hunter2@host/v1".to_owned();
    assert!(
        !refused(&ModelEndpoint { base_url: password, ..server.endpoint() }).contains("hunter2")
    );
    refused(&ModelEndpoint { proxy: Some("::".to_owned()), ..server.endpoint() });
    for key in ["", "  \n", "two words", "línea", "a\r\nhost: b"] {
        assert!(ApiKey::new(key).is_err(), "{key:?}");
    }
    assert_eq!(format!("{:?}", ApiKey::new(" key\n").unwrap()), "***");
}
