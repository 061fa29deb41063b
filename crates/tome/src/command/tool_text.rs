//! Tool calls as people read them: the call in one line, and its output as text instead of JSON.

use serde_json::{Map, Value};
use tome_contents::read_tool_call;
use tome_model::{Event, Tool};
use tome_terminal::one_line;

use super::read::{EditLine, read_edits};

/// Fields of an output that hold its text; the first that has some is shown.
const TEXT_FIELDS: [&str; 13] = [
    "stdout",
    "content",
    "text",
    "output",
    "aggregated_output",
    "result",
    "results",
    "message",
    "file",
    "filenames",
    "matches",
    "answers",
    "stderr",
];
/// Levels of an output that are read.
const DEPTH_MAX: usize = 8;

/// Renders a call in one line: `$ cargo test (failed)`. `None` if the event is no tool call.
pub fn render_call_line(event: &Event, chars_max: usize) -> Option<String> {
    let call = read_tool_call(event)?;
    let prompt = if call.command.is_some() { "$ " } else { "" };
    let outcome = match call.outcome.words() {
        words if words.is_empty() => words,
        words => format!(" ({words})"),
    };
    Some(format!("{prompt}{}{outcome}", one_line(&call.line, chars_max)))
}

/// The text below the line of a call: its changes by line, or else its output. A long input that the
/// line cannot hold comes first.
pub fn render_call_text(event: &Event, line: &str) -> String {
    let Some(tool) = &event.tool else { return String::new() };
    let edits = render_edits(tool, &event.cwd);
    if !edits.is_empty() {
        return edits;
    }
    let input = find_long_input(tool, line);
    let output = render_output(tool, &input);
    let parts = [input, output.trim_end().to_owned()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The input as far as the line does not show it: a command of several lines, the prompt of a subagent.
fn find_long_input(tool: &Tool, line: &str) -> String {
    let shown = ["command", "cmd", "prompt", "query", "pattern", "url"];
    // A path is in the line, unless that was cut.
    let paths = ["file_path", "filePath", "path"].iter().filter(|_| line.ends_with('…'));
    let mut fields = shown.iter().chain(paths);
    let text = fields.find_map(|field| tool.input.get(field)?.as_str());
    let text = text.or(tool.input.as_str()).unwrap_or_default().trim();
    let is_shown = line.contains(&one_line(text, usize::MAX));
    if is_shown { String::new() } else { text.to_owned() }
}

/// The output as text, without a text that the input has already.
pub fn render_output(tool: &Tool, input: &str) -> String {
    if let Value::Object(fields) = &tool.output {
        let mut fields = fields.clone();
        fields.retain(|_, value| {
            value.is_null()
                || value.as_str().is_none_or(|text| text.trim() != input)
                    && !is_in_input(&tool.input, value)
        });
        return render_value(&Value::Object(fields), 0);
    }
    render_value(&tool.output, 0)
}

/// Whether the input has a field with the same value.
fn is_in_input(input: &Value, value: &Value) -> bool {
    let has = |fields: &Map<String, Value>| fields.values().any(|given| given == value);
    value.is_string() && input.as_object().is_some_and(has)
}

/// Renders a value as text: the field that holds the text of an object, otherwise its fields by name.
fn render_value(value: &Value, depth: usize) -> String {
    match value {
        _ if depth > DEPTH_MAX => String::new(),
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items = items.iter().map(|item| render_value(item, depth + 1));
            items.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => render_fields(fields, depth),
    }
}

fn render_fields(fields: &Map<String, Value>, depth: usize) -> String {
    let text = |name: &str| fields.get(name).map(|value| render_value(value, depth + 1));
    let found = TEXT_FIELDS
        .iter()
        .filter_map(|name| Some((*name, text(name)?)))
        .find(|(_, text)| !text.trim().is_empty());
    match found {
        Some(("stdout", shown)) => {
            let errors = text("stderr").filter(|errors| !errors.trim().is_empty());
            errors.map_or(shown.clone(), |errors| format!("{}\n{errors}", shown.trim_end()))
        }
        Some((_, shown)) => shown,
        None => name_fields(fields, depth),
    }
}

/// The fields of an object by name, one per line, without those that say nothing.
fn name_fields(fields: &Map<String, Value>, depth: usize) -> String {
    let lines = fields
        .iter()
        .filter(|(_, value)| **value != Value::Bool(false))
        .map(|(name, value)| (name, render_value(value, depth + 1)))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(name, text)| format!("{name}: {text}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Renders the whole input of a call: its arguments by name.
pub fn render_input(input: &Value) -> String {
    match input {
        Value::Object(fields) => name_fields(fields, 0),
        other => render_value(other, 0),
    }
}

/// The changes of a call as lines that begin with `+` or `-`.
fn render_edits(tool: &Tool, cwd: &str) -> String {
    let edits = read_edits(tool, cwd);
    let is_single = edits.len() == 1;
    let mut lines = Vec::new();
    for edit in &edits {
        if !is_single {
            lines.push(edit.path.clone());
        }
        lines.extend(edit.lines.iter().map(|line| match line {
            EditLine::Added(text) => format!("+ {text}"),
            EditLine::Removed(text) => format!("- {text}"),
            EditLine::Same(text) => format!("  {text}"),
            EditLine::Gap => "…".to_owned(),
        }));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tome_model::{Agent, EventId, EventKind, Millis, Role, SessionId};

    use super::*;

    fn shown(name: &str, input: Value, output: Value) -> String {
        let event = Event {
            id: EventId::parse("e1").unwrap(),
            session: SessionId::parse("s1").unwrap(),
            kind: EventKind::ToolResult,
            role: Role::Tool,
            at: Millis(0),
            arrived: Millis(0),
            agent: Agent::parse("claude-code").unwrap(),
            project: "/app".to_owned(),
            cwd: "/app".to_owned(),
            text: String::new(),
            tool: Some(Tool { name: name.to_owned(), input, output }),
            meta: Map::new(),
        };
        let line = render_call_line(&event, 60).unwrap();
        let text = render_call_text(&event, &line);
        format!("{line}\n{text}")
    }

    #[test]
    fn calls_are_a_line_and_a_text() {
        let file =
            json!({"type": "text", "file": {"filePath": "/app/a.rs", "content": "fn a() {}\n"}});
        assert_eq!(shown("Read", json!({"file_path": "/app/a.rs"}), file), "Read a.rs\nfn a() {}");
        let output = json!({"stdout": "ok\n", "stderr": "warning", "interrupted": false});
        assert_eq!(
            shown("Bash", json!({"command": "cargo build"}), output),
            "$ cargo build\nok\nwarning"
        );
        let found = json!({"filenames": [], "durationMs": 239, "numFiles": 0, "truncated": false});
        let text = shown("Glob", json!({"pattern": "*.rs"}), found);
        assert!(text.contains("numFiles: 0") && !text.contains('{'), "{text}");
        let input = json!({"file_path": "/app/a.rs", "old_string": "let a = 1;", "new_string": "let a = 2;"});
        let text = shown("Edit", input, json!({"filePath": "/app/a.rs"}));
        assert!(text.ends_with("- let a = 1;\n+ let a = 2;"), "{text}");
    }

    #[test]
    fn no_text_is_shown_twice() {
        let prompt = "Find every caller of the lexer.\nList the files.";
        let input = json!({"description": "Find callers", "prompt": prompt});
        let output = json!({"status": "completed", "prompt": prompt, "content": [{"type": "text", "text": "Three files."}]});
        let text = shown("Task", input, output);
        assert_eq!(text.matches("List the files.").count(), 1, "{text}");
        assert!(text.ends_with("\n\nThree files."), "{text}");
    }
}
