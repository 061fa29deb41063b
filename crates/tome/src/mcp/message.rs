//! Parses a line from the client: a message for the server, or an error response.
//!
//! Everything with an id gets a response under that id, so that no client waits forever: unknown
//! methods, invalid arguments, lines that are not JSON (without an id, as JSON-RPC requires).
//! Unknown notifications are ignored.

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, NumberOrString,
    ProtocolVersion,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Value, json};

use super::limits::BATCH_MESSAGES_MAX;

const SUPPORTED_REQUESTS: [&str; 10] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// Notifications that the server handles.
const SUPPORTED_NOTIFICATIONS: [&str; 4] = [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
];

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;

pub type ClientMessage = RxJsonRpcMessage<RoleServer>;

pub enum ParsedLine {
    /// To be passed to the server.
    Message(Box<ClientMessage>),
    /// Invalid; contains the error response.
    Rejected(Value),
    /// Needs no response.
    Ignored,
    Batch(Vec<ParsedLine>),
}

/// Parses a line. Notifications before the session is open are ignored.
pub fn parse_line(line: &[u8], is_open: bool) -> ParsedLine {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return ParsedLine::Ignored;
    }
    match serde_json::from_slice(line) {
        Err(_) => {
            ParsedLine::Rejected(error_response(&Value::Null, PARSE_ERROR, "this line is not JSON"))
        }
        Ok(Value::Array(several)) if several.len() > BATCH_MESSAGES_MAX => {
            let problem = format!("more than {BATCH_MESSAGES_MAX} messages on one line");
            ParsedLine::Rejected(error_response(&Value::Null, INVALID_REQUEST, &problem))
        }
        Ok(Value::Array(several)) if !several.is_empty() => {
            ParsedLine::Batch(several.into_iter().map(|one| parse_value(one, is_open)).collect())
        }
        Ok(one) => parse_value(one, is_open),
    }
}

fn parse_value(value: Value, is_open: bool) -> ParsedLine {
    match value {
        Value::Object(_) => classify_message(value, is_open),
        _ => ParsedLine::Rejected(error_response(
            &Value::Null,
            INVALID_REQUEST,
            "a message must be a JSON object",
        )),
    }
}

/// The error for a request whose id belongs to a request in flight.
pub fn duplicate_id_error(id: &Value) -> Value {
    error_response(id, INVALID_REQUEST, "a request with this id is still in progress")
}

pub fn line_too_long_error(bytes_max: usize) -> Value {
    let problem = format!("this line is longer than {bytes_max} bytes");
    error_response(&Value::Null, INVALID_REQUEST, &problem)
}

fn classify_message(value: Value, is_open: bool) -> ParsedLine {
    let id = value.get("id").cloned();
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
    match (method, &id) {
        (Some(_), Some(id)) if !is_id(id) => ParsedLine::Rejected(error_response(
            &Value::Null,
            INVALID_REQUEST,
            "an id must be a string or a number",
        )),
        (Some(method), Some(id)) if !SUPPORTED_REQUESTS.contains(&method.as_str()) => {
            let problem = format!("unknown method {:?}", tome_model::truncate_to(&method, 80));
            ParsedLine::Rejected(error_response(id, METHOD_NOT_FOUND, &problem))
        }
        (Some(method), None) if !is_open || !SUPPORTED_NOTIFICATIONS.contains(&method.as_str()) => {
            ParsedLine::Ignored
        }
        (None, _) if value.get("result").is_some() || value.get("error").is_some() => {
            // The server sends no requests, so it expects no responses.
            ParsedLine::Ignored
        }
        _ => parse_message(value, id),
    }
}

fn parse_message(value: Value, id: Option<Value>) -> ParsedLine {
    match serde_json::from_value::<ClientMessage>(value) {
        Ok(message) => ParsedLine::Message(Box::new(message)),
        Err(_) => {
            let problem = "not a JSON-RPC 2.0 message with a method";
            ParsedLine::Rejected(error_response(&id.unwrap_or_default(), INVALID_REQUEST, problem))
        }
    }
}

/// Whether a message opens the session: `initialize`, or the first request that carries its
/// protocol version. `server/discover` and `ping` do not.
pub fn opens_session(message: &ClientMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let is_whole = meta.missing_required_keys(&ProtocolVersion::LATEST).is_empty();
            let version = meta.protocol_version();
            is_whole && version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it))
        }
    }
}

pub fn request_id(message: &ClientMessage) -> Option<Value> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone().into_json_value()),
        _ => None,
    }
}

/// Returns the id of the request that a message cancels.
pub fn cancelled_request_id(message: &ClientMessage) -> Option<Value> {
    let ClientJsonRpcMessage::Notification(notification) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &notification.notification else {
        return None;
    };
    cancelled.params.request_id.clone().map(NumberOrString::into_json_value)
}

fn error_response(id: &Value, code: i64, problem: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": problem } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> (Value, i64) {
        match parse_line(line.as_bytes(), true) {
            ParsedLine::Rejected(answer) => {
                (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
            }
            ParsedLine::Message(_) => panic!("{line} was accepted"),
            _ => panic!("{line} was ignored"),
        }
    }

    #[test]
    fn invalid_messages_get_an_error_under_their_id() {
        for (line, id, code) in [
            ("{", Value::Null, -32700),
            ("\u{1}", Value::Null, -32700),
            ("7", Value::Null, -32600),
            ("[]", Value::Null, -32600),
            (r#"{"id": 3}"#, json!(3), -32600),
            (r#"{"jsonrpc": "1.0", "id": 3, "method": "ping"}"#, json!(3), -32600),
            (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, Value::Null, -32600),
            (r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, Value::Null, -32600),
            (r#"{"jsonrpc": "2.0", "id": "a", "method": "tools/dream"}"#, json!("a"), -32601),
            (r#"{"jsonrpc": "2.0", "id": 4, "method": "completion/complete"}"#, json!(4), -32601),
        ] {
            assert_eq!(refused(line), (id, code), "{line}");
        }
        let ParsedLine::Rejected(answer) = parse_line(b"\xff\xfe{}", true) else {
            panic!("no UTF-8")
        };
        assert_eq!(answer["error"]["code"], -32700);
    }

    #[test]
    fn messages_of_a_batch_are_parsed_individually() {
        let line = br#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, 7, {"method": "x"}]"#;
        let ParsedLine::Batch(several) = parse_line(line, true) else { panic!("not several") };
        assert!(matches!(
            &several[..],
            [ParsedLine::Message(_), ParsedLine::Rejected(_), ParsedLine::Ignored]
        ));
    }

    #[test]
    fn messages_that_need_no_response_are_ignored() {
        for line in [
            "",
            "  \r",
            r#"{"jsonrpc": "2.0", "method": "notifications/dreamt"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}"#,
        ] {
            assert!(matches!(parse_line(line.as_bytes(), true), ParsedLine::Ignored), "{line}");
        }
        let early = br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
        assert!(
            matches!(parse_line(early, false), ParsedLine::Ignored),
            "the session is not open yet"
        );
        assert!(matches!(parse_line(early, true), ParsedLine::Message(_)));
    }

    #[test]
    fn initialize_or_a_request_with_a_version_opens_the_session() {
        let opened = |line: &Value| match parse_line(line.to_string().as_bytes(), false) {
            ParsedLine::Message(message) => opens_session(&message),
            _ => panic!("{line} was not accepted"),
        };
        let client = json!({"name": "c", "version": "1"});
        let meta = |version: &str| {
            json!({ "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            }})
        };
        let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        assert!(opened(&request("initialize", hello)));
        assert!(opened(&request("tools/list", meta("2026-07-28"))));
        assert!(!opened(&request("tools/list", meta("2099-01-01"))));
        assert!(!opened(&request("tools/list", json!({}))));
        assert!(!opened(&request("server/discover", meta("2026-07-28"))));
        assert!(!opened(&request("ping", json!({}))));
    }
}
