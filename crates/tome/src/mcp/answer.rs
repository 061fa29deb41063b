//! A tool's answer as MCP carries it: words for a model, and the same as a JSON object.
//!
//! Some clients show their model only the one, some only the other. So nothing stands in the object
//! that the words do not say: what only helps a program (scores, echoes of the question) is left
//! out, and what the words lack (a note's version) follows them as a line of its own.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tome_proto::v1::CallToolResponse;

/// Fields of an answer that only a program would miss.
const LEFT_OUT: [&str; 6] = ["query", "tier", "tokens", "files_read", "project", "characters"];

/// The same for what is listed in it: the list's name, and the fields of its items.
const LEFT_OUT_BELOW: [(&str, &[&str]); 2] = [
    ("hits", &["score", "kind", "level", "project", "session", "agent"]),
    ("files", &["name", "size", "version"]),
];

/// Fields that say something only where there is something.
const LEFT_OUT_IF_NONE: [&str; 6] = ["elsewhere", "unread", "hints", "more", "behind", "left_out"];

/// Fields whose values the words say in another way.
const SAID_OTHERWISE: [&str; 7] =
    ["success", "kind", "truncated", "open", "from", "to", "children_total"];

/// What a tool said.
pub fn result(answer: &CallToolResponse) -> CallToolResult {
    let object = object(answer);
    let mut content = vec![ContentBlock::text(answer.text.as_str())];
    content.extend(beside(&object, &answer.text).map(ContentBlock::text));
    let mut result = match answer.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(Value::Object(object));
    result
}

/// The answer's JSON as an object, which older protocol versions insist on.
fn object(answer: &CallToolResponse) -> Map<String, Value> {
    let value = match serde_json::from_str(&answer.result_json) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(Value::Array(items)) => json!({ "items": items }),
        Ok(other) => json!({ "result": other }),
        Err(_) => json!({ "result": answer.text }),
    };
    match slim(value) {
        Value::Object(mut fields) => {
            fields.retain(|name, value| {
                let name = name.as_str();
                let is_idle = LEFT_OUT_IF_NONE.contains(&name) && is_none(value);
                !is_idle && !LEFT_OUT.contains(&name)
            });
            for (list, names) in LEFT_OUT_BELOW {
                if let Some(Value::Array(items)) = fields.get_mut(list) {
                    items.iter_mut().for_each(|item| leave_out(item, names));
                }
            }
            fields
        }
        _ => Map::new(),
    }
}

fn is_none(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        value => value.as_u64() == Some(0),
    }
}

fn leave_out(item: &mut Value, names: &[&str]) {
    if let Value::Object(fields) = item {
        // A citation says where something is better than the title of its file.
        let is_cited = fields.contains_key("citation");
        fields.retain(|name, _| {
            let is_told = is_cited && name.as_str() == "title";
            !is_told && !names.contains(&name.as_str())
        });
    }
}

/// Without what says nothing: null, no, and empty texts. Empty lists stay at the top, where they say
/// that there is nothing.
fn slim(value: Value) -> Value {
    let fields = match value {
        Value::Object(fields) => fields,
        value => return value,
    };
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    let below = |value| match value {
        Value::Array(items) => Value::Array(items.into_iter().map(slim_below).collect()),
        value => value,
    };
    fields.into_iter().filter(|(_, value)| says(value)).map(|(n, v)| (n, below(v))).collect()
}

fn slim_below(item: Value) -> Value {
    match slim(item) {
        Value::Object(mut fields) => {
            fields.retain(|_, value| !matches!(value, Value::Array(items) if items.is_empty()));
            Value::Object(fields)
        }
        item => item,
    }
}

/// What the object says at its top and the words do not.
fn beside(object: &Map<String, Value>, words: &str) -> Option<String> {
    let missing = object.iter().filter(|(name, _)| !SAID_OTHERWISE.contains(&name.as_str()));
    let missing = missing.filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        // A note's own text may have been cut in the words, where they say so.
        let is_said = words.contains(&value) || matches!(name.as_str(), "content" | "text");
        (!is_said).then(|| format!("{name}: {value}"))
    });
    let missing: Vec<String> = missing.collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str, json: &Value) -> (Vec<String>, Value) {
        let answer = CallToolResponse {
            text: text.into(),
            result_json: json.to_string(),
            ..CallToolResponse::default()
        };
        let result = result(&answer);
        let texts = result.content.iter().map(|block| {
            let ContentBlock::Text(text) = block else { panic!("{block:?}") };
            text.text.clone()
        });
        (texts.collect(), result.structured_content.unwrap())
    }

    #[test]
    fn what_the_words_lack_follows_them() {
        let note = json!({
            "path": "a.md", "content": "one\n", "version": "v1", "truncated": false, "characters": 4,
        });
        let (texts, json) = answered("one\n", &note);
        assert_eq!(texts, ["one\n", "path: a.md, version: v1"]);
        assert_eq!(json, json!({"path": "a.md", "content": "one\n", "version": "v1"}));
        let (texts, _) = answered("Memory saved: a.md", &json!({"path": "a.md", "success": true}));
        assert_eq!(texts, ["Memory saved: a.md"]);
    }

    #[test]
    fn what_only_helps_a_program_is_left_out() {
        let found = json!({
            "query": "q", "tier": "fused", "more": 0, "time": null, "unread": [],
            "hits": [{
                "citation": "a#L1", "score": 0.5, "title": "a", "session": null, "also": [],
                "text": "t", "line": 1,
            }],
        });
        let (texts, json) = answered("[1] t a#L1", &found);
        assert_eq!(texts, ["[1] t a#L1"]);
        let hits = json!([{"citation": "a#L1", "text": "t", "line": 1}]);
        assert_eq!(json, json!({"hits": hits}));
    }

    #[test]
    fn there_is_always_an_object() {
        let (_, json) = answered("[]", &json!([]));
        assert_eq!(json, json!({"items": []}));
        let (_, json) = answered("[1]", &json!([{"a": 1}]));
        assert_eq!(json, json!({"items": [{"a": 1}]}));
    }
}
