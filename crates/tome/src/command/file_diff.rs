//! The edits of a tool call, as differences by line.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use tome_contents::{PATH_FIELDS, shorten_path, tool_base_name};
use tome_model::Tool;

/// Lines around a change.
const CONTEXT_LINES: usize = 2;
/// Lines of a file that are compared.
pub const COMPARED_LINES_MAX: usize = 4_000;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    pub added: usize,
    pub removed: usize,
    pub lines: Vec<EditLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditLine {
    Added(String),
    Removed(String),
    Same(String),
    /// Between two parts of a file.
    Gap,
}

/// Reads the edits of a tool call, for the tools of the supported agents.
pub fn read_edits(tool: &Tool, cwd: &str) -> Vec<FileDiff> {
    let name = tool_base_name(&tool.name);
    if let Some(patch) = find_patch(&tool.input) {
        return parse_patch(patch, cwd);
    }
    let path = PATH_FIELDS.iter().find_map(|field| tool.input.get(field)?.as_str());
    let Some(path) = path.map(|path| shorten_path(path, cwd)) else { return Vec::new() };
    if let Some(edits) = tool.input.get("edits").and_then(Value::as_array) {
        let parts: Vec<FileDiff> = edits
            .iter()
            .filter_map(|edit| replaced_text(edit))
            .map(|(old, new)| compare_texts(path, old, new))
            .collect();
        return merge_parts(path, parts);
    }
    if let Some((old, new)) = replaced_text(&tool.input) {
        return vec![compare_texts(path, old, new)];
    }
    let is_write =
        name.starts_with("write") || name.starts_with("create") || name.starts_with("str_replace");
    let content = ["content", "file_text", "contents"]
        .iter()
        .find_map(|field| tool.input.get(field)?.as_str());
    match content.filter(|_| is_write) {
        Some(text) => vec![compare_texts(path, "", text)],
        None => Vec::new(),
    }
}

fn replaced_text(input: &Value) -> Option<(&str, &str)> {
    let field = |names: [&str; 3]| names.iter().find_map(|name| input.get(name)?.as_str());
    let old = field(["old_string", "oldString", "old_str"])?;
    Some((old, field(["new_string", "newString", "new_str"]).unwrap_or_default()))
}

fn compare_texts(path: &str, old: &str, new: &str) -> FileDiff {
    let head = |text: &str| {
        let lines: Vec<&str> = text.lines().take(COMPARED_LINES_MAX).collect();
        lines.join("\n") + if lines.is_empty() { "" } else { "\n" }
    };
    let (old, new) = (head(old), head(new));
    let diff = TextDiff::from_lines(&old, &new);
    let mut edit = FileDiff { path: path.to_owned(), added: 0, removed: 0, lines: Vec::new() };
    for (i, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if i > 0 {
            edit.lines.push(EditLine::Gap);
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n').to_owned();
            edit.push(match change.tag() {
                ChangeTag::Delete => EditLine::Removed(line),
                ChangeTag::Insert => EditLine::Added(line),
                ChangeTag::Equal => EditLine::Same(line),
            });
        }
    }
    edit
}

impl FileDiff {
    fn push(&mut self, line: EditLine) {
        match &line {
            EditLine::Added(_) => self.added += 1,
            EditLine::Removed(_) => self.removed += 1,
            EditLine::Same(_) | EditLine::Gap => {}
        }
        self.lines.push(line);
    }
}

/// Joins several edits of one file.
fn merge_parts(path: &str, parts: Vec<FileDiff>) -> Vec<FileDiff> {
    let mut whole = FileDiff { path: path.to_owned(), added: 0, removed: 0, lines: Vec::new() };
    for part in parts {
        if !whole.lines.is_empty() {
            whole.lines.push(EditLine::Gap);
        }
        part.lines.into_iter().for_each(|line| whole.push(line));
    }
    if whole.lines.is_empty() { Vec::new() } else { vec![whole] }
}

/// Finds the text of a patch in Codex's format.
fn find_patch(input: &Value) -> Option<&str> {
    let is_patch = |text: &&str| text.contains("*** Begin Patch");
    match input {
        Value::String(text) => Some(text.as_str()).filter(is_patch),
        Value::Object(fields) => fields.values().find_map(find_patch),
        Value::Array(items) => items.iter().find_map(find_patch),
        _ => None,
    }
}

fn parse_patch(patch: &str, cwd: &str) -> Vec<FileDiff> {
    const FILE_MARKS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let mut edits: Vec<FileDiff> = Vec::new();
    for line in patch.lines().take(COMPARED_LINES_MAX) {
        if let Some(path) = FILE_MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            let path = shorten_path(path.trim(), cwd).to_owned();
            edits.push(FileDiff { path, added: 0, removed: 0, lines: Vec::new() });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        if let Some(rest) = line.strip_prefix('+') {
            edit.push(EditLine::Added(rest.to_owned()));
        } else if let Some(rest) = line.strip_prefix('-') {
            edit.push(EditLine::Removed(rest.to_owned()));
        } else if let Some(rest) = line.strip_prefix(' ') {
            edit.push(EditLine::Same(rest.to_owned()));
        } else if line.starts_with("@@") && !edit.lines.is_empty() {
            edit.push(EditLine::Gap);
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edits(name: &str, input: Value) -> Vec<(String, usize, usize)> {
        let tool = Tool { name: name.to_owned(), input, output: Value::Null };
        read_edits(&tool, "/app")
            .into_iter()
            .map(|edit| (edit.path, edit.added, edit.removed))
            .collect()
    }

    #[test]
    fn edits_of_every_agent_are_read() {
        let one = |added, removed| vec![("src/a.rs".to_owned(), added, removed)];
        let file = "/app/src/a.rs";
        let claude = json!({"file_path": file, "old_string": "a\nb\n", "new_string": "a\nc\nd\n"});
        assert_eq!(edits("Edit", claude), one(2, 1));
        let several = json!({"file_path": file, "edits": [
            {"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]});
        assert_eq!(edits("MultiEdit", several), one(1, 2));
        assert_eq!(edits("Write", json!({"file_path": file, "content": "a\nb"})), one(2, 0));
        let opencode = json!({"filePath": file, "oldString": "a", "newString": "b"});
        assert_eq!(edits("edit", opencode), one(1, 1));
        let copilot = json!({"path": file, "old_str": "a", "new_str": "b"});
        assert_eq!(edits("str_replace_editor", copilot), one(1, 1));
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n a\n-b\n+c\n*** Add File: b\n+x\n*** End Patch";
        let codex = json!({"command": ["apply_patch", patch]});
        assert_eq!(edits("shell", codex), [one(1, 1), vec![("b".to_owned(), 1, 0)]].concat());
        assert_eq!(edits("Read", json!({"file_path": file})), []);
    }
}
