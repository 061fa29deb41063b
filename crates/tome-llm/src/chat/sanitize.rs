//! Sanitizes tool names, ids and arguments that models or other providers produced, because an invalid
//! one would make the provider reject every later request of the conversation.

use serde_json::{Map, Value};

/// Longest tool name that providers accept.
const NAME_CHARS_MAX: usize = 64;

/// Returns the arguments as an object. Other values are wrapped, so that the model sees its mistake.
pub(super) fn parse_arguments(arguments: &str) -> Map<String, Value> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => fields,
        _ if arguments.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("not_an_object".to_owned(), arguments.into())]),
    }
}

/// Replaces characters that tool names must not contain.
pub(super) fn sanitize_name(name: &str) -> String {
    let name: String = name.chars().take(NAME_CHARS_MAX).map(sanitize_char).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Replaces characters that call ids must not contain. A call and its result get the same id.
pub(super) fn sanitize_id(id: &str) -> String {
    let id: String = id.chars().map(sanitize_char).collect();
    if id.is_empty() { "unnamed".to_owned() } else { id }
}

fn sanitize_char(one: char) -> char {
    if one.is_ascii_alphanumeric() || matches!(one, '_' | '-') { one } else { '_' }
}

/// Whether a text is not blank; providers reject blank ones.
pub(super) fn is_not_blank(text: &str) -> bool {
    !text.trim().is_empty()
}

pub(super) fn set_field(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
