//! Parses which files a tool call changed or read, for the tools of the supported agents.

use tome_model::{Event, FileAction, Tool};

use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::files::file_tool::{FileTool, PATH_FIELDS, tool_base_name};
use crate::extract::language::terms::base_name;
use crate::extract::language::text::{collect_strings, find_text_field, head_and_tail};

/// Bytes of a patch that are parsed: enough for the names of some hundred files.
const PATCH_HEAD_BYTES_MAX: usize = 48 * 1024;
const PATCH_TAIL_BYTES_MAX: usize = 16 * 1024;
/// Files per tool call that are counted.
const FILES_MAX: usize = 40;

/// A file that a tool call acted on; `raw` is the verbatim text that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TouchedFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) raw: &'a str,
    pub(crate) action: FileAction,
}

/// Returns the files that a tool call changes, as the agent names them, without those it deletes.
pub fn list_edited_files(tool: &Tool) -> Vec<&str> {
    use FileAction::{Changed, Created};
    let files = parse_files(tool).into_iter();
    files.filter(|file| matches!(file.action, Changed | Created)).map(|file| file.path).collect()
}

/// Returns the files of one tool call; none if it failed.
pub(crate) fn parse_touched_files<'a>(event: &'a Event, tool: &'a Tool) -> Vec<TouchedFile<'a>> {
    if has_failed(event, tool) { Vec::new() } else { parse_files(tool) }
}

/// Returns the files that a tool call is about, even if it failed.
pub(crate) fn parse_files(tool: &Tool) -> Vec<TouchedFile<'_>> {
    let name = tool_base_name(&tool.name);
    let Some(kind) = FileTool::from_name(&name) else { return Vec::new() };
    match kind {
        FileTool::Edit => single_file(tool, FileAction::Changed),
        FileTool::Write => single_file(tool, write_action(tool, &name)),
        FileTool::Editor => match find_text_field(&tool.input, &["command"]) {
            Some("view") => single_file(tool, FileAction::Read),
            Some("create") => single_file(tool, FileAction::Created),
            _ => single_file(tool, FileAction::Changed),
        },
        FileTool::Patch => collect_strings(&tool.input)
            .into_iter()
            .flat_map(parse_patch_files)
            .take(FILES_MAX)
            .collect(),
        FileTool::Delete => single_file(tool, FileAction::Deleted),
        FileTool::Read => single_file(tool, FileAction::Read),
    }
}

/// Whether a call on files did nothing.
fn has_failed(event: &Event, tool: &Tool) -> bool {
    const REFUSED: [&str; 5] = [
        "Error",
        "error:",
        "<tool_use_error>",
        "String to replace not found",
        "File has not been read",
    ];
    let is_refused = |text: &str| REFUSED.iter().any(|beginning| text.starts_with(beginning));
    // Not its exit code: the text of a file may mention one.
    let outcome = read_outcome(event, tool);
    event.is_marked_failed()
        || tool.output.as_str().is_some_and(is_refused)
        || !matches!(outcome, ToolOutcome::Exited(_)) && outcome.has_passed() == Some(false)
        || find_text_field(&tool.output, &["resultType"]) == Some("failure")
}

/// A write creates a file only if the tool's output says so; the file may have existed.
fn write_action(tool: &Tool, name: &str) -> FileAction {
    let says = |text: &&str| {
        let head: String = text.chars().take(200).collect::<String>().to_lowercase();
        head == "create" || head.contains("created") || head.contains("new file")
    };
    if name.starts_with("create") || collect_strings(&tool.output).iter().take(8).any(says) {
        FileAction::Created
    } else {
        FileAction::Changed
    }
}

fn single_file(tool: &Tool, touch: FileAction) -> Vec<TouchedFile<'_>> {
    let named = PATH_FIELDS.iter().chain(&["filename", "file"]);
    let path = find_text_field(&tool.input, named).filter(|path| is_path(path));
    path.map(|path| TouchedFile { path, raw: path, action: touch }).into_iter().collect()
}

fn is_path(path: &str) -> bool {
    !path.contains('\n') && path.len() <= 1024 && !base_name(path).is_empty()
}

/// Returns the files named in a patch, in Codex's format or as a unified diff.
pub(crate) fn parse_patch_files(text: &str) -> Vec<TouchedFile<'_>> {
    const FORMS: [(&str, FileAction); 5] = [
        ("*** Update File: ", FileAction::Changed),
        ("*** Add File: ", FileAction::Created),
        ("*** Delete File: ", FileAction::Deleted),
        ("*** Move to: ", FileAction::Created),
        ("+++ b/", FileAction::Changed),
    ];
    let mut found: Vec<TouchedFile<'_>> = Vec::new();
    for line in head_and_tail(text, PATCH_HEAD_BYTES_MAX, PATCH_TAIL_BYTES_MAX)
        .iter()
        .flat_map(|part| part.lines())
    {
        let named = FORMS
            .iter()
            .find_map(|(mark, touch)| line.strip_prefix(mark).map(|path| (path.trim(), *touch)));
        let Some((path, touch)) = named.filter(|(path, _)| is_path(path)) else { continue };
        let is_full = found.len() >= FILES_MAX;
        match found.iter_mut().find(|one| one.path == path) {
            // Deleted and added again in one patch: written over.
            Some(one) if one.action == FileAction::Deleted && touch == FileAction::Created => {
                one.action = FileAction::Changed;
            }
            Some(_) => {}
            None if is_full => {}
            None => found.push(TouchedFile { path, raw: line, action: touch }),
        }
    }
    found
}
