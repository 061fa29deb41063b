//! The fields of a payload, removed one by one; the remainder becomes the event's meta.

use serde_json::{Map, Value};
use tome_model::{cap_json, limits};

/// Limit for an event's meta. Half of what the model accepts: a value that is too large for a
/// reason other than long strings is kept as JSON text, and quoting can double its size.
const META_BYTES: usize = limits::META_BYTES_MAX / 2 - 1024;

/// Fields not worth keeping with every event: the event name (implied by the kind), paths that
/// follow from the session, and session-wide settings.
const NOISE_FIELDS: [&str; 5] =
    ["hook_event_name", "transcript_path", "agent_transcript_path", "permission_mode", "effort"];

/// Agents say "agent" for what Tome calls a subagent.
const RENAMED_FIELDS: [(&str, &str); 3] =
    [("agent_id", "subagent"), ("agent_type", "subagent_type"), ("agent_name", "subagent_name")];

#[derive(Default)]
pub(super) struct PayloadFields(Map<String, Value>);

impl PayloadFields {
    pub(super) fn new(map: Map<String, Value>) -> Self {
        Self(map)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns a string that is present and not empty.
    pub(super) fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }

    /// Removes a value; null if absent.
    pub(super) fn take_value(&mut self, name: &str) -> Value {
        self.0.shift_remove(name).unwrap_or_default()
    }

    /// Removes a value and converts it to text, whatever its type.
    pub(super) fn take_text(&mut self, name: &str) -> String {
        text_from_value(self.take_value(name))
    }

    /// Removes an object; a value of another type stays.
    pub(super) fn take_object(&mut self, name: &str) -> Self {
        match self.0.get_mut(name) {
            Some(Value::Object(map)) => {
                let map = std::mem::take(map);
                self.0.shift_remove(name);
                Self(map)
            }
            _ => Self::default(),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(super) fn mark_failed(&mut self) {
        self.set("failed", true);
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// Converts every field name to snake_case, so that both dialects of an agent parse alike.
    pub(super) fn into_snake_case(self) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (to_snake_case(&name), value)).collect())
    }

    /// Turns the remaining fields into an event's meta: without noise and empty values,
    /// size-limited.
    pub(super) fn into_meta(mut self) -> Map<String, Value> {
        self.remove_noise();
        if !self.is_true("stop_hook_active") {
            self.0.shift_remove("stop_hook_active");
        }
        for (theirs, ours) in RENAMED_FIELDS {
            if let Some(value) = self.0.shift_remove(theirs) {
                self.0.insert(ours.to_owned(), value);
            }
        }
        self.0.retain(|_, value| !is_empty_value(value));
        cap_meta(self.0)
    }

    pub(super) fn remove_noise(&mut self) {
        for name in NOISE_FIELDS {
            self.0.shift_remove(name);
        }
    }
}

/// Caps long strings, or replaces the whole meta by one capped text.
pub(super) fn cap_meta(meta: Map<String, Value>) -> Map<String, Value> {
    match cap_json(Value::Object(meta), META_BYTES).0 {
        Value::Object(meta) => meta,
        text => Map::from_iter([("payload".to_owned(), text)]),
    }
}

/// Converts a value to text: strings as they are, lists of text parts joined, the rest as JSON.
pub(super) fn text_from_value(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        value => join_text_parts(&value).unwrap_or_else(|| value.to_string()),
    }
}

/// Returns the text of a part, or of a list of parts that hold only text.
pub(super) fn join_text_parts(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part
            .get("text")
            .and_then(Value::as_str)
            .filter(|_| part.keys().all(|key| key == "text" || key == "type"))
            .map(str::to_owned),
        Value::Array(parts) if !parts.is_empty() => {
            let texts: Option<Vec<String>> = parts.iter().map(join_text_parts).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `textResultForLlm` becomes `text_result_for_llm`.
fn to_snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
