//! What providers insist on in what is sent to them: names, ids and arguments that a model or another
//! provider made, and that must not fail every later request of the conversation.

use serde_json::{Map, Value};

/// A tool's name is refused if it is longer.
const NAME_CHARS_MAX: usize = 64;

/// The arguments as an object, whatever the model wrote. What is no object is kept inside one, so
/// that the model sees what it did.
pub(super) fn as_object(arguments: &str) -> Map<String, Value> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => fields,
        _ if arguments.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("not_an_object".to_owned(), arguments.into())]),
    }
}

/// A name that a tool may have.
pub(super) fn safe_name(name: &str) -> String {
    let name: String = name.chars().take(NAME_CHARS_MAX).map(plain).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// An id that a call may have; the same for the call and for its result.
pub(super) fn safe_id(id: &str) -> String {
    let id: String = id.chars().map(plain).collect();
    if id.is_empty() { "unnamed".to_owned() } else { id }
}

fn plain(one: char) -> char {
    if one.is_ascii_alphanumeric() || matches!(one, '_' | '-') { one } else { '_' }
}

/// The words that say something; providers refuse empty ones.
pub(super) fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Sets a field of an object.
pub(super) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
