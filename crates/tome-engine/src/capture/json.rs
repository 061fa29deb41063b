//! Redaction of JSON: each string by itself, and the values of keys that say a secret follows.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::name::{self, Weight};
use super::redact::Redactor;
use super::value::{self, Setting};

/// The mark of a value that its key gives away.
const KEYED_MARK: &str = "[redacted:password]";

impl Redactor {
    /// Redacts every string of a JSON value, keys included.
    pub fn redact_json(&self, value: &mut Value) {
        *value = rewritten(value, &mut |text| self.redact(text));
    }
}

/// The value with secrets under telling keys replaced by their mark, and every other string and
/// key by what `leaf` makes of it.
pub(super) fn rewritten(value: &Value, leaf: &mut impl FnMut(&str) -> Cow<'_, str>) -> Value {
    under(value, None, leaf)
}

fn under(
    value: &Value,
    weight: Option<Weight>,
    leaf: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Value {
    match value {
        Value::String(text) => {
            let new = leaf(text);
            if weight.is_some_and(|weight| is_keyed_secret(&new, weight)) {
                return KEYED_MARK.into();
            }
            Value::String(new.into_owned())
        }
        Value::Array(items) => items.iter().map(|item| under(item, weight, leaf)).collect(),
        Value::Object(map) => Value::Object(object(map, leaf)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn object(
    map: &Map<String, Value>,
    leaf: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Map<String, Value> {
    let paired = paired_weight(map, leaf);
    let mut new = Map::new();
    for (key, value) in map {
        let new_key = leaf(key).into_owned();
        let weight =
            if key.eq_ignore_ascii_case("value") { paired } else { weigh_either(key, &new_key) };
        let value = under(value, weight, leaf);
        new.insert(free_key(&new, new_key), value);
    }
    new
}

/// `{"name": "DB_PASSWORD", "value": "…"}`: the name stands beside the value.
fn paired_weight(
    map: &Map<String, Value>,
    leaf: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Option<Weight> {
    let name = ["name", "Name", "key", "Key", "variable"]
        .iter()
        .find_map(|key| map.get(*key)?.as_str())?;
    weigh_either(name, &leaf(name))
}

/// What a name says as it came or as it is kept: the next look will only see the latter.
fn weigh_either(came: &str, kept: &str) -> Option<Weight> {
    let (came, kept) = (name::weigh_whole(came), name::weigh_whole(kept));
    if came == Some(Weight::Firm) { came } else { kept.or(came) }
}

/// Two keys may turn into the same mark; both values stay.
fn free_key(map: &Map<String, Value>, key: String) -> String {
    if !map.contains_key(&key) {
        return key;
    }
    (2..=map.len() + 2)
        .map(|number| format!("{key} {number}"))
        .find(|key| !map.contains_key(key))
        .unwrap_or(key)
}

fn is_keyed_secret(text: &str, weight: Weight) -> bool {
    !text.starts_with("[redacted:")
        && !text.starts_with("[private]")
        && value::is_secret(text, Setting::Quoted, weight)
}
