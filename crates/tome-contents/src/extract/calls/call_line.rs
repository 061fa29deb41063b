//! A tool call in one line: the command, or the tool's name and what it was called with.

use serde_json::{Map, Value};
use tome_model::Tool;
use tome_text::{collapse_whitespace, truncate_words};

use crate::extract::git::commit_message::CommitMessage;

/// Fields of a call that have no better description, and characters of each.
const FIELDS_SHOWN: usize = 3;
const FIELD_CHARS_MAX: usize = 60;
/// Characters of a commit's command that is shown as it is.
const COMMIT_CHARS_MAX: usize = 100;

/// Fields that describe a call best. A search is described by its words rather than by its folder.
const SUBJECTS: [&str; 8] =
    ["pattern", "query", "url", "description", "question", "title", "skill", "prompt"];

/// Describes a call by its command, else by its first file, else by its input.
pub(crate) fn describe_call(
    tool: &Tool,
    command: Option<&str>,
    file: Option<&str>,
    cwd: &str,
) -> String {
    let name = display_name(&tool.name);
    let line = match (command, file) {
        (Some(command), _) => shorten_command(command, cwd),
        (None, Some(path)) => format!("{name} {}", shorten_path(path, cwd)),
        (None, None) => format!("{name} {}", describe_input(&tool.input, cwd)),
    };
    collapse_whitespace(&line)
}

/// Describes a commit by its command, or by its subject alone if the command is long.
pub(crate) fn describe_commit(command: &str, message: &CommitMessage, cwd: &str) -> String {
    let line = shorten_command(command, cwd);
    let is_short = !line.ends_with(" …") && line.chars().count() <= COMMIT_CHARS_MAX;
    // Beside other commands, the outcome may be theirs.
    let is_whole = is_short || !message.is_alone;
    let line = if is_whole { line } else { format!("git commit -m \"{}\" …", message.subject) };
    collapse_whitespace(&line)
}

/// `mcp__server__tool` in readable form.
fn display_name(name: &str) -> String {
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => format!("{server}: {name}"),
        None => name.to_owned(),
    }
}

fn describe_input(input: &Value, cwd: &str) -> String {
    if let Some(todos) = input.get("todos").and_then(Value::as_array) {
        return describe_plan(todos);
    }
    let subject = SUBJECTS.iter().find_map(|field| input.get(field)?.as_str());
    match (subject, input) {
        (Some(subject), _) => shorten_path(subject, cwd).to_owned(),
        (None, Value::Object(fields)) => describe_fields(fields),
        (None, Value::String(text)) => text.clone(),
        (None, Value::Null) => String::new(),
        (None, other) => other.to_string(),
    }
}

/// Such as `2 of 5 done, now: Write the tests`.
fn describe_plan(todos: &[Value]) -> String {
    let has_state = |todo: &&Value, state: &str| {
        todo.get("status").and_then(Value::as_str).is_some_and(|status| status == state)
    };
    let done = todos.iter().filter(|todo| has_state(todo, "completed")).count();
    let current = todos.iter().find(|todo| has_state(todo, "in_progress"));
    let current = current.and_then(|todo| todo.get("content")?.as_str());
    let current = current.map(|text| format!(", now: {text}")).unwrap_or_default();
    format!("{done} of {} done{current}", todos.len())
}

/// The short values of a call's fields.
fn describe_fields(fields: &Map<String, Value>) -> String {
    let shown = fields.iter().filter_map(|(name, value)| match value {
        Value::String(text) if !text.is_empty() => {
            Some(format!("{name}={}", truncate_words(&collapse_whitespace(text), FIELD_CHARS_MAX)))
        }
        Value::Number(number) => Some(format!("{name}={number}")),
        Value::Bool(true) => Some(name.clone()),
        _ => None,
    });
    shown.take(FIELDS_SHOWN).collect::<Vec<_>>().join(" ")
}

/// A path relative to the folder of the session, if it is below it. On Windows a path may have
/// either separator.
pub fn shorten_path<'p>(path: &'p str, cwd: &str) -> &'p str {
    let is_windows = cwd.as_bytes().get(1) == Some(&b':') || cwd.starts_with("\\\\");
    let separators: &[char] = if is_windows { &['/', '\\'] } else { &['/'] };
    let cwd = cwd.trim_end_matches(separators);
    let is_separator = |byte: u8| separators.contains(&char::from(byte));
    let is_same = |(a, b): (u8, u8)| a == b || is_separator(a) && is_separator(b);
    let is_below = path.len() > cwd.len() && path.bytes().zip(cwd.bytes()).all(is_same);
    let rest = path.get(cwd.len()..).filter(|_| is_below && !cwd.is_empty());
    let rest = rest.and_then(|rest| rest.strip_prefix(separators));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The first line of a command, without a leading change to the session's own folder.
fn shorten_command(command: &str, cwd: &str) -> String {
    let own = format!("cd {cwd} && ");
    let command = command.trim().strip_prefix(&own).unwrap_or(command.trim());
    let mut lines = command.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder() {
        assert_eq!(shorten_path("/app/src/a.rs", "/app/"), "src/a.rs");
        assert_eq!(shorten_path("/application/a.rs", "/app"), "/application/a.rs");
        assert_eq!(shorten_path("/app", "/app"), "/app");
        assert_eq!(shorten_path("/app/", ""), "/app/");
        assert_eq!(shorten_path("/app\\a.rs", "/app"), "/app\\a.rs");
        assert_eq!(shorten_path("C:/dev/app/src/a.rs", "C:\\dev\\app"), "src/a.rs");
        assert_eq!(shorten_path("C:\\dev\\app\\src\\a.rs", "C:\\dev\\app\\"), "src\\a.rs");
    }
}
