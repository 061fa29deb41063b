//! Tool calls as people read them: the call in one line, and its output as text instead of JSON.

use serde_json::{Map, Value};
use tome_contents::{PATH_FIELDS, read_tool_call, shorten_path};
use tome_model::{Event, Tool};
use tome_terminal::{display_width, one_line, truncate_end};

use super::file_diff::{COMPARED_LINES_MAX, EditLine, read_edits};

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
/// Fields that the line of a call is made of, besides paths.
const LINE_FIELDS: [&str; 11] = [
    "command",
    "cmd",
    "script",
    "prompt",
    "query",
    "pattern",
    "url",
    "description",
    "question",
    "title",
    "skill",
];
/// Fields that the lines of an edit are made of.
const EDIT_FIELDS: [&str; 10] = [
    "old_string",
    "oldString",
    "old_str",
    "new_string",
    "newString",
    "new_str",
    "edits",
    "content",
    "file_text",
    "contents",
];
/// Columns of a command that are always shown.
const LINE_COLUMNS_MIN: usize = 12;
const LINE_CHARS_MAX: usize = 1_000;
/// Levels of an output that are read.
const DEPTH_MAX: usize = 8;

/// Renders a call in one line: `$ cargo test (failed)`. Of a long one, the end of the command is cut.
/// `None` if the event is no tool call.
pub fn render_call_line(event: &Event, columns: usize) -> Option<String> {
    let call = read_tool_call(event)?;
    let (prompt, outcome) = (call.prompt_mark(), call.outcome_mark());
    let rest = columns.saturating_sub(prompt.len() + display_width(&outcome));
    let line = truncate_end(&one_line(&call.line, LINE_CHARS_MAX), rest.max(LINE_COLUMNS_MIN));
    Some(format!("{prompt}{line}{outcome}"))
}

/// How much of the input of a call is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputDetail {
    /// The one field that matters most.
    Brief,
    /// Every field, for exports and `--full`.
    Whole,
}

/// The text below the line of a call: its changes by line, or else its input as far as the line does
/// not hold it, and its output. Only the output of an edit that passed says nothing new.
pub fn render_call_text(event: &Event, line: &str, detail: InputDetail) -> String {
    let Some(tool) = &event.tool else { return String::new() };
    let call = read_tool_call(event);
    let has_command = call.as_ref().is_some_and(|call| call.command.is_some());
    let is_whole = detail == InputDetail::Whole;
    // The whole command has the patch, and perhaps more after it.
    let shows_edits = !is_whole || !has_command && !exceeds_edit_lines(&tool.input);
    let edits = if shows_edits { render_edits(tool, &event.cwd) } else { String::new() };
    let has_failed = call.is_some_and(|call| call.outcome.has_passed() == Some(false));
    let is_known_edit = !edits.is_empty() && !has_failed && !has_command;
    let (main, is_edit) = match edits.is_empty() {
        true => (find_long_input(tool, line), false),
        false => (edits, true),
    };
    let rest = match is_whole {
        true => render_other_fields(tool, &event.cwd, line, &main, is_edit),
        false => String::new(),
    };
    let output = match is_known_edit {
        true => String::new(),
        false => render_output(tool, &main).trim_end().to_owned(),
    };
    let parts = [main, rest, output];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Whether a text of the input may have more lines than edits are read of.
fn exceeds_edit_lines(input: &Value) -> bool {
    input.to_string().matches("\\n").count() >= COMPARED_LINES_MAX
}

/// The fields of the input by name, without those that the line or the text `main` holds.
fn render_other_fields(tool: &Tool, cwd: &str, line: &str, main: &str, is_edit: bool) -> String {
    let Value::Object(fields) = &tool.input else { return String::new() };
    let line = format!(" {line} ");
    let is_in_line = |text: &str| line.contains(&format!(" {} ", one_line(text, usize::MAX)));
    let is_shown = |name: &str, value: &Value| match value {
        Value::Null => true,
        Value::String(text) if text.trim() == main => true,
        Value::String(text) if is_edit && text.contains("*** Begin Patch") => true,
        _ if is_edit && EDIT_FIELDS.contains(&name) => true,
        Value::String(text) if LINE_FIELDS.contains(&name) || PATH_FIELDS.contains(&name) => {
            is_in_line(shorten_path(text, cwd)) || is_in_line(text)
        }
        _ => false,
    };
    let fields = fields.iter().filter(|(name, value)| !is_shown(name, value));
    let lines = fields.map(|(name, value)| format!("{name}: {}", render_whole_value(value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Renders all of a value, as JSON if it is more than a text.
fn render_whole_value(value: &Value) -> String {
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
    match value {
        Value::String(text) => text.trim_end().to_owned(),
        // Such as the words of a command with a script.
        Value::Array(items) if items.iter().any(is_long) && !items.iter().any(is_nested) => {
            items.iter().map(render_whole_value).collect::<Vec<_>>().join("\n")
        }
        Value::Array(items) if !items.iter().any(is_nested) => value.to_string(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
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
        shown_in(InputDetail::Brief, name, input, output)
    }

    fn shown_in(detail: InputDetail, name: &str, input: Value, output: Value) -> String {
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
        let text = render_call_text(&event, &line, detail);
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
    #[test]
    fn an_edit_that_failed_keeps_its_output() {
        let input = json!({"file_path": "/app/a.rs", "old_string": "let a = 1;", "new_string": "let a = 2;"});
        let output = json!({"is_error": true, "content": "String to replace not found in file."});
        for detail in [InputDetail::Brief, InputDetail::Whole] {
            let text = shown_in(detail, "Edit", input.clone(), output.clone());
            assert!(
                text.ends_with("+ let a = 2;\n\nString to replace not found in file."),
                "{text}"
            );
        }
    }

    #[test]
    fn a_command_with_a_patch_keeps_its_output_and_the_commands_after_it() {
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n-let a = 1;\n+let a = 2;\n*** End Patch";
        let command = format!("apply_patch <<'EOF'\n{patch}\nEOF\ncargo test --workspace");
        let output = json!({"stdout": "3 passed", "exit_code": 0});
        let call = json!({"command": command});
        let text = shown("Bash", call.clone(), output.clone());
        assert!(text.ends_with("- let a = 1;\n+ let a = 2;\n\n3 passed"), "{text}");
        let text = shown_in(InputDetail::Whole, "Bash", call, output);
        assert!(text.ends_with("EOF\ncargo test --workspace\n\n3 passed"), "{text}");
        assert_eq!(text.matches("+let a = 2;").count(), 1, "{text}");
    }

    #[test]
    fn the_whole_input_is_shown_once() {
        let show = |name, input| shown_in(InputDetail::Whole, name, input, json!("done"));
        let body = "The lexer stops.\n\nSteps: open an empty file.";
        let input =
            json!({"title": "Crash", "body": body, "labels": ["bug"], "draft": false, "to": null});
        let text = show("mcp__github__create_issue", input);
        assert!(text.contains("body: The lexer stops.\n\nSteps: open an empty file."), "{text}");
        assert!(text.contains("\"bug\"") && text.contains("draft: false"), "{text}");
        assert!(!text.contains("null") && text.ends_with("\n\ndone"), "{text}");

        let input = json!({"command": "cargo test", "timeout": 60_000});
        assert_eq!(show("Bash", input), "$ cargo test\ntimeout: 60000\n\ndone");
        let input = json!({"path": "/app/a.md", "content": "One", "message": "Add a page"});
        let text = show("mcp__github__create_or_update_file", input);
        assert!(text.contains("\n+ One\n\n") && !text.contains("content: "), "{text}");
        assert!(text.ends_with("\nmessage: Add a page"), "{text}");
        let input = json!({"file_path": "/app/a.md", "content": "One line\n".repeat(COMPARED_LINES_MAX + 9)});
        let text = show("Write", input);
        assert_eq!(text.matches("One line").count(), COMPARED_LINES_MAX + 9);
    }
}
