//! The fields of a payload, moved out one by one; what is left becomes the event's meta.

use serde_json::{Map, Value};
use tome_model::{cap_json, limits};

/// All of an event's meta. Half of what the model accepts, because a value that is too large for
/// another reason than long strings is kept as its own text, and quoting can double that.
const META_BYTES: usize = limits::META_BYTES_MAX / 2 - 1024;

/// Fields that say nothing worth keeping with every event: the event's own name (the kind says
/// it), paths that follow from the session, and settings that hold for the whole session.
const NOISE: [&str; 5] =
    ["hook_event_name", "transcript_path", "agent_transcript_path", "permission_mode", "effort"];

/// Agents call a subagent an agent; Tome's word is subagent.
const RENAMED: [(&str, &str); 3] =
    [("agent_id", "subagent"), ("agent_type", "subagent_type"), ("agent_name", "subagent_name")];

/// The fields of a payload.
#[derive(Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
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

    /// A text that is there and not empty.
    pub(super) fn str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }

    /// Moves a value out; null where there is none.
    pub(super) fn take(&mut self, name: &str) -> Value {
        self.0.shift_remove(name).unwrap_or_default()
    }

    /// Moves a value out as text, whatever its type.
    pub(super) fn words(&mut self, name: &str) -> String {
        words_of(self.take(name))
    }

    /// Moves an object out; a value of another type stays where it is.
    pub(super) fn object(&mut self, name: &str) -> Self {
        match self.0.get_mut(name) {
            Some(Value::Object(map)) => {
                let map = std::mem::take(map);
                self.0.shift_remove(name);
                Self(map)
            }
            _ => Self::default(),
        }
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Marks what failed.
    pub(super) fn put_failed(&mut self) {
        self.put("failed", true);
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// Every field under its name in snake case, so that both of an agent's dialects read alike.
    pub(super) fn in_snake_case(self) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (snake(&name), value)).collect())
    }

    /// What is left, as an event's meta: without noise, without what is empty, bounded.
    pub(super) fn into_meta(mut self) -> Map<String, Value> {
        self.drop_noise();
        if !self.is_true("stop_hook_active") {
            self.0.shift_remove("stop_hook_active");
        }
        for (theirs, ours) in RENAMED {
            if let Some(value) = self.0.shift_remove(theirs) {
                self.0.insert(ours.to_owned(), value);
            }
        }
        self.0.retain(|_, value| !is_empty(value));
        bounded(self.0)
    }

    pub(super) fn drop_noise(&mut self) {
        for name in NOISE {
            self.0.shift_remove(name);
        }
    }
}

/// Meta that fits: long strings capped, or all of it as one capped text.
pub(super) fn bounded(meta: Map<String, Value>) -> Map<String, Value> {
    match cap_json(Value::Object(meta), META_BYTES).0 {
        Value::Object(meta) => meta,
        text => Map::from_iter([("payload".to_owned(), text)]),
    }
}

/// A value as text: a string as it is, the texts of a list of parts, anything else as JSON.
pub(super) fn words_of(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        value => joined(&value).unwrap_or_else(|| value.to_string()),
    }
}

/// The text of a part or of a list of parts that hold nothing but text.
pub(super) fn joined(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part
            .get("text")
            .and_then(Value::as_str)
            .filter(|_| part.keys().all(|key| key == "text" || key == "type"))
            .map(str::to_owned),
        Value::Array(parts) if !parts.is_empty() => {
            let texts: Option<Vec<String>> = parts.iter().map(joined).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `textResultForLlm` becomes `text_result_for_llm`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
