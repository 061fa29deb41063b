//! Cuts the content of ignored files from tool calls.

use std::path::Path;

use serde_json::Value;
use tome_model::Draft;

use super::{IGNORED_MARK, IgnoredPaths};

/// Only so much of a string is searched for paths.
const SEARCHED_BYTES_MAX: usize = 256 * 1024;
/// A longer word is not a path.
const PATH_BYTES_MAX: usize = 1024;
/// A longer field of the agent's payload may hold content.
const FIELD_BYTES_MAX: usize = 200;

/// Cuts input, output and text of a tool call that names an ignored path. Names and paths stay.
pub fn cut_ignored(mut draft: Draft, ignored: &IgnoredPaths) -> Draft {
    let Some(tool) = &mut draft.tool else { return draft };
    if !names_ignored(&tool.input, &draft.cwd, ignored) {
        return draft;
    }
    cut_strings(&mut tool.input, &|text| !is_one_word(text));
    if !tool.output.is_null() {
        tool.output = Value::String(IGNORED_MARK.to_owned());
    }
    if !draft.text.is_empty() {
        IGNORED_MARK.clone_into(&mut draft.text);
    }
    for value in draft.meta.values_mut() {
        cut_strings(value, &|text| text.len() > FIELD_BYTES_MAX);
    }
    draft
}

/// Whether a string of a value is, or contains, an ignored path.
fn names_ignored(value: &Value, cwd: &str, ignored: &IgnoredPaths) -> bool {
    match value {
        Value::String(text) => {
            let text = tome_model::truncate_to(text, SEARCHED_BYTES_MAX);
            is_ignored(text, cwd, ignored)
                || split_words(text).any(|word| is_ignored(word, cwd, ignored))
        }
        Value::Array(items) => items.iter().any(|item| names_ignored(item, cwd, ignored)),
        Value::Object(fields) => fields.values().any(|field| names_ignored(field, cwd, ignored)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Splits a command line or a patch at everything that does not belong to a path.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&<>()=,$".contains(c);
    text.split(is_end).filter(|word| !word.is_empty())
}

fn is_ignored(word: &str, cwd: &str, ignored: &IgnoredPaths) -> bool {
    if word.len() > PATH_BYTES_MAX || word.contains('\n') {
        return false;
    }
    let word = word.strip_prefix("file://").unwrap_or(word);
    let path = match (word.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => Path::new(cwd).join(word),
    };
    ignored.is_ignored(&path, false)
}

/// A path or a name, rather than content.
fn is_one_word(text: &str) -> bool {
    text.len() <= PATH_BYTES_MAX && !text.contains(char::is_whitespace)
}

fn cut_strings(value: &mut Value, is_cut: &dyn Fn(&str) -> bool) {
    match value {
        Value::String(text) if is_cut(text) => IGNORED_MARK.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_strings(item, is_cut)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_strings(field, is_cut)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tome_model::EventLine;

    use super::*;

    fn cut(input: &Value) -> Draft {
        let line = json!({
            "agent": "codex", "session_id": "s", "cwd": "/app", "kind": "tool_result", "at": 1,
            "tool": {"name": "Bash", "input": input, "output": {"stdout": "hunter2"}},
        });
        let draft = EventLine::parse(&line.to_string()).unwrap().into_draft().unwrap();
        cut_ignored(draft, &IgnoredPaths::new("*.env,/app/private/"))
    }

    #[test]
    fn a_call_that_names_an_ignored_file_loses_its_content() {
        for input in [
            json!({"file_path": "/app/prod.env", "content": "A=hunter2 b"}),
            json!({"path": "private/x.txt", "text": "the password is hunter2"}),
            json!({"command": "cat ./prod.env | grep hunter2"}),
            json!({"patch": "*** Update File: private/a.rs\n+hunter2\n"}),
            json!({"files": [{"name": "a b.env"}, {"text": "say hunter2"}]}),
        ] {
            let tool = cut(&input).tool.unwrap();
            assert_eq!(tool.output, json!(IGNORED_MARK), "{input}");
            assert!(!tool.input.to_string().contains("hunter2"), "{}", tool.input);
        }
        let path = cut(&json!({"file_path": "/app/prod.env"})).tool.unwrap();
        assert_eq!(path.input, json!({"file_path": "/app/prod.env"}), "which file stays known");
    }

    #[test]
    fn other_calls_stay_whole() {
        for input in [json!({"command": "cargo test"}), json!({"file_path": "/app/env.rs"})] {
            let tool = cut(&input).tool.unwrap();
            assert_eq!((&tool.input, &tool.output), (&input, &json!({"stdout": "hunter2"})));
        }
    }
}
