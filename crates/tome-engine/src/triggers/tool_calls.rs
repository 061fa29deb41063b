//! Classifies tool calls for the triggers: file edits, stored lessons, writes to the session's
//! overview.

use serde_json::Value;
use tome_contents::{FileTool, PATH_FIELDS, tool_base_name};
use tome_model::{Tool, truncate_to};

use super::limits::PARSED_BYTES_MAX;

#[rustfmt::skip]
const SHELL_TOOLS: [&str; 8] = [
    "bash", "shell", "run_shell_command", "exec_command", "local_shell", "powershell", "terminal",
    "run_in_terminal",
];

/// Substrings of commands that change files or commit a change.
#[rustfmt::skip]
const EDIT_COMMANDS: [&str; 8] = [
    "sed -i", "git commit", "git apply", "apply_patch", "patch -p", "tee ", "cat >", "cat <<",
];

const NOTE_WRITE_TOOLS: [&str; 4] =
    ["memory_write", "memory_append", "memory_patch", "memory_update"];

/// The overview's path in the session's notebook, and in the session's folder.
const OVERVIEW: &str = "overview.md";
const OVERVIEW_FILE: &str = "working-memory/overview.md";

/// Whether a call changed files.
pub(super) fn is_edit(tool: &Tool) -> bool {
    let name = tool_base_name(&tool.name);
    match text_field(&tool.input, &["command"]) {
        Some("view") if name.starts_with("str_replace_") => false,
        _ if FileTool::from_name(&name).is_some_and(|kind| kind != FileTool::Read) => {
            is_file_edit(tool, &name)
        }
        _ => shell_command(tool)
            .is_some_and(|typed| EDIT_COMMANDS.iter().any(|edit| typed.contains(edit))),
    }
}

/// Another server's `insert` or `delete` may refer to database rows.
fn is_file_edit(tool: &Tool, name: &str) -> bool {
    let of_files = ["file", "edit", "patch", "str_replace"].iter().any(|word| name.contains(word));
    of_files || !tool.name.contains("__")
}

/// Whether a call saved lessons or a note that outlives the session.
pub(super) fn saves_memory(tool: &Tool) -> bool {
    let by_command = |typed: &str| typed.contains("tome") && typed.contains("coder store");
    let is_note = NOTE_WRITE_TOOLS.iter().any(|name| is_tome_tool(tool, name))
        && text_field(&tool.input, &["scope"]) != Some("session");
    is_tome_tool(tool, "coder_memory_store")
        || is_note
        || shell_command(tool).is_some_and(by_command)
}

/// Whether a call wrote the session's overview, with a tool of Tome or as a file.
pub(super) fn writes_overview(tool: &Tool) -> bool {
    if NOTE_WRITE_TOOLS.iter().any(|name| is_tome_tool(tool, name)) {
        let path = text_field(&tool.input, &["path", "filename"]).unwrap_or_default();
        let scope = text_field(&tool.input, &["scope"]);
        return scope == Some("session") && path.trim().trim_start_matches("./") == OVERVIEW;
    }
    if let Some(typed) = shell_command(tool) {
        let typed = typed.replace('\\', "/");
        let by_note =
            ["write", "append", "patch", "update"].iter().any(|verb| typed.contains(verb))
                && typed.contains("tome memory ")
                && typed.contains("session")
                && typed.contains(OVERVIEW);
        let by_file = typed.contains(OVERVIEW_FILE)
            && (typed.contains('>') || EDIT_COMMANDS.iter().any(|edit| typed.contains(edit)));
        return by_note || by_file;
    }
    is_edit(tool) && edited_path(tool).replace('\\', "/").contains(OVERVIEW_FILE)
}

/// The path or patch of an edit.
fn edited_path(tool: &Tool) -> &str {
    let patch = || text_field(&tool.input, &["patch", "input", "patchText", "command"]);
    let named = text_field(&tool.input, &PATH_FIELDS).or_else(|| tool.input.as_str());
    let named = named.or_else(patch).unwrap_or_default();
    truncate_to(named, PARSED_BYTES_MAX)
}

/// Whether a call was to this tool of Tome. Agents prefix the server's name in different ways:
/// `mcp__tome__`, `mcp_tome_`, `tome-`, `tome_`.
fn is_tome_tool(tool: &Tool, own: &str) -> bool {
    let before = tool.name.strip_suffix(own);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['_', '-', '.', ':', '/']))
}

/// The command of a shell call.
fn shell_command(tool: &Tool) -> Option<&str> {
    let is_shell = SHELL_TOOLS.contains(&tool_base_name(&tool.name).as_str());
    let typed = match tool.input.get("command").or_else(|| tool.input.get("cmd"))? {
        Value::String(typed) => typed.as_str(),
        // `["bash", "-lc", "…"]`
        Value::Array(words) => words.last()?.as_str()?,
        _ => return None,
    };
    is_shell.then(|| truncate_to(typed, PARSED_BYTES_MAX))
}

/// The first of these fields with a non-empty string.
pub(super) fn text_field<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    let mut texts = names.iter().filter_map(|name| value.get(name)?.as_str());
    texts.find(|text| !text.is_empty())
}
