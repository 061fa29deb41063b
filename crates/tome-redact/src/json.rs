//! Redaction of JSON: each string individually, and the values of keys that announce a secret.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::name::{self, NameStrength};
use super::value::{self, ValueContext};

/// The mark of a value that is a secret because of its key.
const KEYED_MARK: &str = "[redacted:password]";

/// Replaces values whose key announces a secret with a mark, and passes every other string and key
/// through `redact`, some of them more than once.
pub fn rewrite_json(value: &Value, redact: &mut impl FnMut(&str) -> Cow<'_, str>) -> Value {
    rewrite_value(value, JsonContext::Plain, redact)
}

/// The context of a JSON value.
#[derive(Clone, Copy)]
enum JsonContext {
    /// Under no key, or one that does not announce a secret.
    Plain,
    /// Under a key that announces a secret.
    Named(NameStrength),
    /// A header whose value is only meaningful together with its name.
    Header(&'static str),
    /// Inside the data of a Kubernetes secret.
    SecretData,
}

fn rewrite_value(
    value: &Value,
    context: JsonContext,
    redact: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Value {
    match value {
        Value::String(text) => rewrite_text(text, context, redact),
        Value::Array(items) => rewrite_items(items, context, redact),
        Value::Object(map) => Value::Object(rewrite_object(map, context, redact)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn rewrite_text(
    text: &str,
    context: JsonContext,
    redact: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Value {
    if let JsonContext::Header(name) = context
        && let Some(rest) = redact(&format!("{name}: {text}")).strip_prefix(name)
        && let Some(rest) = rest.strip_prefix(": ")
    {
        return redact(rest).into_owned().into();
    }
    let new = redact(text);
    let is_secret = match context {
        JsonContext::Named(strength) => is_keyed_secret(&new, strength),
        JsonContext::SecretData => !starts_with_mark(&new) && !value::is_placeholder(&new),
        JsonContext::Plain | JsonContext::Header(_) => false,
    };
    if is_secret { KEYED_MARK.into() } else { Value::String(new.into_owned()) }
}

/// Rewrites an array. In `["--password", "…"]` the option names the item after it.
fn rewrite_items(
    items: &[Value],
    context: JsonContext,
    redact: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Value {
    let mut option = None;
    let mut new = Vec::with_capacity(items.len());
    for item in items {
        let item_context = option.map_or(context, JsonContext::Named);
        new.push(rewrite_value(item, item_context, redact));
        option = item
            .as_str()
            .filter(|text| text.starts_with("--"))
            .and_then(|text| name::rate_name(text.trim_start_matches('-')))
            .filter(|strength| *strength == NameStrength::Certain);
    }
    Value::Array(new)
}

fn rewrite_object(
    map: &Map<String, Value>,
    context: JsonContext,
    redact: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Map<String, Value> {
    let paired = find_sibling_strength(map, redact);
    let typed = fills_password_field(map).then_some(NameStrength::Certain);
    let is_kubernetes_secret = map.get("kind").and_then(Value::as_str) == Some("Secret");
    let mut new = Map::new();
    for (key, value) in map {
        let new_key = redact(key).into_owned();
        let value_context = match key.as_str() {
            _ if matches!(context, JsonContext::SecretData) => context,
            "data" | "stringData" if is_kubernetes_secret => JsonContext::SecretData,
            _ if key.eq_ignore_ascii_case("cookie") => JsonContext::Header("Cookie"),
            _ if key.eq_ignore_ascii_case("set-cookie") => JsonContext::Header("Set-Cookie"),
            _ if key.eq_ignore_ascii_case("authorization") => JsonContext::Header("Authorization"),
            _ if key.eq_ignore_ascii_case("value") => {
                paired.or(typed).map_or(JsonContext::Plain, JsonContext::Named)
            }
            "text" => typed.map_or(JsonContext::Plain, JsonContext::Named),
            _ => rate_either_name(key, &new_key).map_or(JsonContext::Plain, JsonContext::Named),
        };
        let value = rewrite_value(value, value_context, redact);
        new.insert(unused_key(&new, new_key), value);
    }
    new
}

/// `{"name": "DB_PASSWORD", "value": "…"}`: the name is a sibling of the value.
fn find_sibling_strength(
    map: &Map<String, Value>,
    redact: &mut impl FnMut(&str) -> Cow<'_, str>,
) -> Option<NameStrength> {
    let name = ["name", "Name", "key", "Key", "variable"]
        .iter()
        .find_map(|key| map.get(*key)?.as_str())?;
    rate_either_name(name, &redact(name))
}

/// `{"element": "Password field", "text": "…"}`: what an agent types into a page.
fn fills_password_field(map: &Map<String, Value>) -> bool {
    const LABELS: [&str; 6] = ["element", "label", "placeholder", "selector", "target", "name"];
    if !map.contains_key("text") && !map.contains_key("value") {
        return false;
    }
    LABELS.iter().filter_map(|key| map.get(*key)?.as_str()).any(names_password_field)
}

/// Whether the label or selector of a field says that it takes a password, in common languages.
/// `password_hash` and `password-reset-button` name something else.
fn names_password_field(label: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 15] = [
        "password", "passwd", "passphrase", "passwort", "kennwort", "contraseña", "senha", "hasło", "пароль",
        "密码", "密碼", "パスワード", "비밀번호", "암호", "mot de passe",
    ];
    #[rustfmt::skip]
    const FIELDS: [&str; 14] = [
        "field", "input", "textbox", "box", "current", "new", "old", "confirm", "repeat", "your", "the", "user",
        "login", "account",
    ];
    const LABEL_BYTES_MAX: usize = 80;
    if label.len() > LABEL_BYTES_MAX {
        return false;
    }
    let lower = label.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut has_password = lower.contains("mot de passe");
    for word in words {
        if WORDS.contains(&word) {
            has_password = true;
        } else if !FIELDS.contains(&word) && !"mot de passe".contains(word) {
            return false;
        }
    }
    has_password
}

/// The strength of a name before or after its own redaction: a second pass sees only the latter.
fn rate_either_name(original: &str, redacted: &str) -> Option<NameStrength> {
    let strengths = [name::rate_name(original), name::rate_name(redacted)];
    // The strongest comes first in the order of strengths.
    strengths.into_iter().flatten().min()
}

/// Two keys may turn into the same mark; both values are kept.
fn unused_key(map: &Map<String, Value>, key: String) -> String {
    if !map.contains_key(&key) {
        return key;
    }
    (2..=map.len() + 2)
        .map(|number| format!("{key} {number}"))
        .find(|key| !map.contains_key(key))
        .unwrap_or(key)
}

fn starts_with_mark(text: &str) -> bool {
    text.starts_with("[redacted:") || text.starts_with("[private]")
}

fn is_keyed_secret(text: &str, strength: NameStrength) -> bool {
    !starts_with_mark(text) && value::is_secret(text, ValueContext::Quoted, strength)
}
