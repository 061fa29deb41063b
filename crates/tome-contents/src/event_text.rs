//! The texts of an event: its text, and the strings in its tool's input and output, in document
//! order. Excerpts are substrings of exactly these texts.
//!
//! A top-level number or boolean is a text of its own; inside objects and lists only strings count,
//! without their keys. Output of Tome's own read tools is left out, because search would find the
//! echo instead of the original.

use std::borrow::Cow;

use serde_json::Value;
use tome_model::{Event, Tool};

use super::limits::EVENT_TEXTS_MAX;

/// Returns the non-empty texts of an event, in order and lazily; at most ten thousand.
pub fn event_texts(event: &Event) -> impl Iterator<Item = Cow<'_, str>> {
    let text = (!event.text.is_empty()).then_some(Cow::Borrowed(event.text.as_str()));
    let tool = event.tool.iter().flat_map(|tool| {
        let output = (!repeats_memory(&tool.name)).then_some(&tool.output);
        std::iter::once(&tool.input).chain(output)
    });
    text.into_iter().chain(tool.flat_map(json_strings)).take(EVENT_TEXTS_MAX)
}

/// Returns the texts of a call's input, in the order of [`event_texts`].
pub fn tool_input_texts(tool: &Tool) -> impl Iterator<Item = Cow<'_, str>> {
    json_strings(&tool.input)
}

/// Tools whose output repeats stored memory.
const MEMORY_READ_TOOLS: [&str; 10] = [
    "recall_memory",
    "memory_show",
    "coder_memory_recall",
    "memory_list",
    "memory_view",
    "memory_read",
    "teleport_query",
    "get_toc_root",
    "browse_toc",
    "expand_grip",
];

/// Whether a tool's output repeats stored memory. Agents prefix tool names with the server's name
/// in their own ways: `mcp__tome__`, `mcp_tome_`, `tome-`.
fn repeats_memory(name: &str) -> bool {
    let before = MEMORY_READ_TOOLS.iter().find_map(|echo| name.strip_suffix(echo));
    before.is_some_and(|before| before.is_empty() || before.contains("tome"))
}

/// Returns the strings of a value in document order, or a scalar value itself as text.
fn json_strings(value: &Value) -> impl Iterator<Item = Cow<'_, str>> {
    let alone = match value {
        Value::Bool(_) | Value::Number(_) => Some(Cow::Owned(value.to_string())),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    alone.into_iter().chain(JsonStrings { next: Some(value), parts: Vec::new() }.map(Cow::Borrowed))
}

/// Depth-first iterator over the strings of a value, without recursion.
struct JsonStrings<'a> {
    next: Option<&'a Value>,
    parts: Vec<JsonParts<'a>>,
}

enum JsonParts<'a> {
    List(std::slice::Iter<'a, Value>),
    Fields(serde_json::map::Values<'a>),
}

impl<'a> Iterator for JsonStrings<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            match self.next.take() {
                Some(Value::String(text)) if !text.is_empty() => return Some(text),
                Some(Value::Array(items)) => self.parts.push(JsonParts::List(items.iter())),
                Some(Value::Object(fields)) => self.parts.push(JsonParts::Fields(fields.values())),
                Some(Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_)) => {}
                None => {
                    let next = match self.parts.last_mut()? {
                        JsonParts::List(items) => items.next(),
                        JsonParts::Fields(fields) => fields.next(),
                    };
                    if next.is_none() {
                        self.parts.pop();
                    }
                    self.next = next;
                }
            }
        }
    }
}
