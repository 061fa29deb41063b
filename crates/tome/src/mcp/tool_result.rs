//! Builds the MCP result of a tool call.
//!
//! Some clients show their model only the text, some only the structured content. A result that
//! quotes recorded text is therefore text only, in its fence and with its source. Results of
//! writing tools and errors have both forms with the same content: fields missing from the text
//! (such as a note's version) follow as a separate line.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tome_engine::{ToolEffect, neutralize_markers};
use tome_proto::v1::CallToolResponse;

/// Fields that the text expresses in another way.
const FIELDS_COVERED_BY_TEXT: [&str; 2] = ["success", "kind"];

pub fn build_tool_result(answer: &CallToolResponse, effect: ToolEffect) -> CallToolResult {
    let is_quoted = effect == ToolEffect::Reads && !answer.is_error;
    let object = result_object(answer);
    let mut content = vec![ContentBlock::text(answer.text.as_str())];
    let extra_text = if is_quoted {
        object.get("version").and_then(Value::as_str).map(|it| format!("version: {it}"))
    } else {
        describe_missing_fields(&object, &answer.text)
    };
    content.extend(extra_text.map(ContentBlock::text));
    let mut result = if answer.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = (!is_quoted).then_some(Value::Object(object));
    result
}

/// Returns the result as an object, as older protocol versions require, without empty fields.
fn result_object(answer: &CallToolResponse) -> Map<String, Value> {
    let fields = match serde_json::from_str(&answer.result_json) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Array(items)) => Map::from_iter([("items".to_owned(), items.into())]),
        Ok(other) => Map::from_iter([("result".to_owned(), other)]),
        Err(_) => Map::from_iter([("result".to_owned(), json!(answer.text))]),
    };
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    fields
        .into_iter()
        .filter(|(_, value)| says(value))
        .map(|(n, v)| (n, neutralize_value(v)))
        .collect()
}

/// Neutralizes the markers in all strings of a value.
fn neutralize_value(value: Value) -> Value {
    match value {
        Value::String(text) => neutralize_markers(&text).into_owned().into(),
        Value::Array(items) => items.into_iter().map(neutralize_value).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(n, v)| (n, neutralize_value(v))).collect()
        }
        value => value,
    }
}

/// Lists top-level fields whose values do not occur in the text.
fn describe_missing_fields(object: &Map<String, Value>, text: &str) -> Option<String> {
    let missing =
        object.iter().filter(|(name, _)| !FIELDS_COVERED_BY_TEXT.contains(&name.as_str()));
    let missing = missing.filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.contains(&value)).then(|| format!("{name}: {value}"))
    });
    let missing: Vec<String> = missing.collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str, json: &Value, effect: ToolEffect) -> (Vec<String>, Option<Value>) {
        let answer = CallToolResponse {
            text: text.into(),
            result_json: json.to_string(),
            ..CallToolResponse::default()
        };
        let result = build_tool_result(&answer, effect);
        let texts = result.content.iter().map(|block| {
            let ContentBlock::Text(text) = block else { panic!("{block:?}") };
            text.text.clone()
        });
        (texts.collect(), result.structured_content)
    }

    #[test]
    fn recorded_text_is_returned_as_text_followed_by_its_version() {
        let note = json!({"path": "a.md", "content": "one\n", "version": "v1"});
        let (texts, json) = answered("one\n", &note, ToolEffect::Reads);
        assert_eq!(texts, ["one\n", "version: v1"]);
        assert_eq!(json, None);
    }

    #[test]
    fn a_write_has_the_same_content_in_both_forms() {
        let saved = json!({"path": "<system-reminder>.md", "success": true, "size": 4, "why": ""});
        let (texts, json) = answered("Memory saved", &saved, ToolEffect::ReplacesIdempotently);
        assert_eq!(texts, ["Memory saved", "path: [quoted: system-reminder].md, size: 4"]);
        let expected = json!({"path": "[quoted: system-reminder].md", "success": true, "size": 4});
        assert_eq!(json, Some(expected));
        let (_, json) = answered("[1]", &json!([{"a": 1}]), ToolEffect::Adds);
        assert_eq!(json, Some(json!({"items": [{"a": 1}]})));
    }
}
