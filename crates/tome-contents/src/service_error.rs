//! Messages of an agent's service in place of an answer: a limit, a login, a failed request.

use serde_json::Value;
use tome_model::{Event, EventKind};

/// Longer messages are answers, whatever they begin with.
const BYTES_MAX: usize = 600;

/// Beginnings of such messages, of Claude Code, Codex, Gemini CLI and Copilot CLI.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "API Error", "Claude AI usage limit reached", "Claude usage limit reached", "Credit balance is too low",
    "Failed to authenticate", "Invalid API key", "No response requested", "Not logged in", "OAuth token",
    "Please run /login", "Prompt is too long", "Rate limit reached", "Repeated 529", "Repeated server overload",
    "Request timed out", "Selected model is at capacity", "The model has reached its context window limit",
    "There's an issue with the selected model", "This organization has been disabled", "This request would exceed",
    "You've hit your limit", "You've hit your session limit", "You've hit your usage limit",
    "You've hit your weekly limit", "You've reached your usage limit", "You're out of extra usage",
    "Your account does not have access", "exceeded retry limit", "stream disconnected before completion",
    "stream error:", "unexpected status 4", "unexpected status 5", "[API Error",
];

/// Whether the service said this instead of the model.
pub fn is_service_error(event: &Event) -> bool {
    let is_message = matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop);
    let is_marked = event.meta.get("failed").and_then(Value::as_bool) == Some(true);
    is_message && (is_marked && event.text.len() <= BYTES_MAX || is_service_error_text(&event.text))
}

/// Whether a message reads like one of the service.
pub fn is_service_error_text(text: &str) -> bool {
    let text = text.trim_start();
    text.len() <= BYTES_MAX && BEGINNINGS.iter().any(|start| text.starts_with(start))
}
