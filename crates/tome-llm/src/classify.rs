//! Classifies error responses by status, code and message. Messages may contain the key: the caller
//! redacts them.

use std::time::Duration;

use serde_json::Value;
use ureq::http::HeaderMap;

use crate::ModelFailure;

/// Messages for a request that exceeds the context window, in lower case. In order: the Messages API
/// (two), OpenAI and vLLM, OpenAI, llama.cpp (two), Ollama (two), vLLM, Gemini.
const TOO_LONG: [&str; 10] = [
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "exceeds the context window",
    "exceeds the available context size",
    "exceed_context_size_error",
    "exceeds maximum context",
    "exceeds the context length",
    "longer than the maximum model length",
    "exceeds the maximum number of tokens allowed",
];

/// Error codes with the same meaning.
const TOO_LONG_CODES: [&str; 2] = ["context_length_exceeded", "request_too_large"];

/// Classifies a response with an error status.
pub(crate) fn classify_status(
    status: u16,
    retry_after: Option<Duration>,
    body: &[u8],
) -> ModelFailure {
    let json = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let text = if json.is_null() {
        String::from_utf8_lossy(body.get(..2_000).unwrap_or(body)).into_owned()
    } else {
        find_message(&json)
    };
    let codes = collect_codes(json.get("error").unwrap_or(&json));
    build_failure(status, retry_after, &text, &codes)
}

/// Finds an error inside a response or event with a successful status.
pub(crate) fn find_failure(answer: &Value) -> Option<ModelFailure> {
    let error = answer.get("error").filter(|error| !error.is_null());
    let kind = |field: &str| answer.get(field).and_then(Value::as_str);
    if error.is_none() && kind("type") != Some("error") && kind("object") != Some("error") {
        return None;
    }
    let error = error.unwrap_or(answer);
    let codes = collect_codes(error);
    let is = |known: &[&str]| codes.iter().any(|code| known.iter().any(|k| code.contains(k)));
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| code.try_into().ok());
    let status = match status {
        Some(status @ 400..600) => status,
        _ if is(&["overloaded", "rate_limit", "unavailable"]) => 529,
        _ if is(&["authentication", "permission", "invalid_api_key"]) => 401,
        _ if is(&["not_found"]) => 404,
        _ if is(&["invalid_request", "too_large", "context_length"]) => 400,
        _ => 500,
    };
    Some(build_failure(status, None, &find_message(answer), &codes))
}

fn build_failure(
    status: u16,
    retry_after: Option<Duration>,
    text: &str,
    codes: &[String],
) -> ModelFailure {
    let message = format!("{status} {text}");
    if matches!(status, 400 | 413 | 422 | 500) && is_too_long(text, codes) {
        return ModelFailure::ContextTooLong { message };
    }
    match status {
        429 | 503 | 529 => ModelFailure::Overloaded { retry_after, message },
        500.. => ModelFailure::Unreachable { message },
        401 | 403 => ModelFailure::Unauthorized { message },
        404 => ModelFailure::NotFound { message },
        300..=399 => ModelFailure::NotFound {
            message: format!("{message} the endpoint has moved: set its new address as base URL"),
        },
        _ => ModelFailure::Rejected { status, message },
    }
}

fn is_too_long(text: &str, codes: &[String]) -> bool {
    let text = text.to_lowercase();
    TOO_LONG.iter().any(|words| text.contains(words))
        || codes.iter().any(|code| TOO_LONG_CODES.contains(&code.as_str()))
}

/// Returns the type and the code of an error, in lower case.
fn collect_codes(error: &Value) -> Vec<String> {
    let codes = ["type", "code"].iter().filter_map(|field| error.get(field)?.as_str());
    codes.map(str::to_lowercase).collect()
}

/// Finds the message of an error response in any of the usual shapes.
fn find_message(json: &Value) -> String {
    ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .find_map(|pointer| json.pointer(pointer).and_then(Value::as_str))
        .map_or_else(|| json.to_string(), str::to_owned)
}

/// Parses the pause the endpoint asks for, in seconds or milliseconds. A date is ignored, because this
/// crate does not read the clock.
pub(crate) fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok()
    };
    let seconds = number("retry-after-ms").map(|ms| ms / 1_000.0).or_else(|| number("retry-after"));
    Duration::try_from_secs_f64(seconds?).ok()
}
