//! Parses which files a tool call changed or read, for the tools of the supported agents.

use serde_json::Value;
use tome_model::{Event, Tool};

use super::text::{strings, window};
use super::words::base_name;

/// Bytes of a patch that are parsed: enough for the names of some hundred files.
const PATCH_HEAD_BYTES_MAX: usize = 48 * 1024;
const PATCH_TAIL_BYTES_MAX: usize = 16 * 1024;
/// Files per tool call that are counted.
const FILES_MAX: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    Created,
    Changed,
    Deleted,
    Read,
}

/// A file that a tool call acted on; `raw` is the verbatim text that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touched<'a> {
    pub(super) path: &'a str,
    pub(super) raw: &'a str,
    pub(super) touch: Touch,
}

/// Returns the files of one tool call; none if it failed.
pub(super) fn touched<'a>(event: &'a Event, tool: &'a Tool) -> Vec<Touched<'a>> {
    let name = tool.name.to_lowercase();
    let name = name.rsplit("__").next().unwrap_or(&name);
    if failed(event, tool) {
        return Vec::new();
    }
    match name {
        "edit"
        | "multiedit"
        | "notebookedit"
        | "replace"
        | "str_replace"
        | "edit_file"
        | "insert_edit_into_file"
        | "replace_string_in_file"
        | "multi_edit"
        | "insert"
        | "smart_edit" => one(tool, Touch::Changed),
        "write" | "write_file" | "create" | "create_file" | "write_to_file" => {
            one(tool, written(tool, name))
        }
        "str_replace_editor" | "str_replace_based_edit_tool" => {
            match text_field(&tool.input, &["command"]) {
                Some("view") => one(tool, Touch::Read),
                Some("create") => one(tool, Touch::Created),
                _ => one(tool, Touch::Changed),
            }
        }
        "apply_patch" | "patch" | "applypatch" => {
            strings(&tool.input).into_iter().flat_map(in_patch).take(FILES_MAX).collect()
        }
        "delete_file" | "delete" => one(tool, Touch::Deleted),
        "read" | "view" | "read_file" | "read_many_files" | "notebookread" => {
            one(tool, Touch::Read)
        }
        _ => Vec::new(),
    }
}

fn failed(event: &Event, tool: &Tool) -> bool {
    const REFUSED: [&str; 5] = [
        "Error",
        "error:",
        "<tool_use_error>",
        "String to replace not found",
        "File has not been read",
    ];
    event.meta.get("failed").and_then(Value::as_bool) == Some(true)
        || tool
            .output
            .as_str()
            .is_some_and(|text| REFUSED.iter().any(|mark| text.starts_with(mark)))
        || text_field(&tool.output, &["resultType"])
            .is_some_and(|kind| kind == "failure" || kind == "denied")
}

/// A write creates a file only if the tool's output says so; the file may have existed.
fn written(tool: &Tool, name: &str) -> Touch {
    let says = |text: &&str| {
        let head: String = text.chars().take(200).collect::<String>().to_lowercase();
        head == "create" || head.contains("created") || head.contains("new file")
    };
    if name.starts_with("create") || strings(&tool.output).iter().take(8).any(says) {
        Touch::Created
    } else {
        Touch::Changed
    }
}

fn one(tool: &Tool, touch: Touch) -> Vec<Touched<'_>> {
    #[rustfmt::skip]
    const FIELDS: [&str; 8] = [
        "file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file",
        "filename", "file",
    ];
    let path = text_field(&tool.input, &FIELDS).filter(|path| is_path(path));
    path.map(|path| Touched { path, raw: path, touch }).into_iter().collect()
}

/// Returns the first of these fields that holds a non-empty string.
pub(super) fn text_field<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| value.get(name).and_then(Value::as_str))
        .filter(|text| !text.is_empty())
}

fn is_path(path: &str) -> bool {
    !path.contains('\n') && path.len() <= 1024 && !base_name(path).is_empty()
}

/// Returns the files named in a patch, in Codex's format or as a unified diff.
pub(super) fn in_patch(text: &str) -> Vec<Touched<'_>> {
    const FORMS: [(&str, Touch); 5] = [
        ("*** Update File: ", Touch::Changed),
        ("*** Add File: ", Touch::Created),
        ("*** Delete File: ", Touch::Deleted),
        ("*** Move to: ", Touch::Created),
        ("+++ b/", Touch::Changed),
    ];
    let mut found: Vec<Touched<'_>> = Vec::new();
    for line in window(text, PATCH_HEAD_BYTES_MAX, PATCH_TAIL_BYTES_MAX)
        .iter()
        .flat_map(|part| part.lines())
    {
        let named = FORMS
            .iter()
            .find_map(|(mark, touch)| line.strip_prefix(mark).map(|path| (path.trim(), *touch)));
        if let Some((path, touch)) = named.filter(|(path, _)| is_path(path))
            && found.len() < FILES_MAX
            && !found.iter().any(|one| one.path == path)
        {
            found.push(Touched { path, raw: line, touch });
        }
    }
    found
}
