//! The commands that change something below `/memories`.

use serde_json::json;
use tome_notebook::{Notebook, NotebookError};

use super::path::MemoryPath;
use super::view::number_lines;
use super::{MemoryPathKind, Result, classify_path, not_found_error, project_notebook};
use crate::tools::answer::{ToolError, truncate_bytes};
use crate::tools::args::ToolArgs;
use crate::tools::call::ToolInvocation;
use crate::tools::{ToolAnswer, ToolFailure};

/// Bytes shown of a text that was not found.
const OLD_SHOWN_BYTES_MAX: usize = 500;

/// Occurrences reported for a text that is not unique.
const OCCURRENCES_MAX: usize = 100;

/// Lines shown before and after a change.
const CONTEXT_LINES: usize = 2;

/// Characters shown of a change.
const SNIPPET_CHARS_MAX: usize = 4_000;

pub(super) fn create(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let given = call.check_new_path(args.require_text(&["path"])?)?;
    let path = MemoryPath::parse(&given)?;
    let text = args.require_text(&["file_text"])?;
    args.reject_unknown()?;
    let text = call.redact(text);
    reject_root(&path, "create")?;
    let notebook = call.open_notebook(&project_notebook(call))?;
    let by = call.author();
    let done =
        notebook.create_note(&by, path.notebook_path(), &text).map_err(|error| match error {
            NotebookError::AlreadyExists(_) => {
                ToolError::new(ToolFailure::Conflict, format!("File {path} already exists"))
            }
            error => error.into(),
        })?;
    Ok(success_answer(format!("File created successfully at: {path}"), &path, &done.version))
}

pub(super) fn str_replace(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.require_text(&["path"])?)?;
    let old = args.require_text(&["old_str"])?;
    let new = args.require_text(&["new_str"])?;
    args.reject_unknown()?;
    if old.is_empty() {
        return Err(ToolError::invalid("old_str is empty: pass the text to replace"));
    }
    let new = call.redact(new);
    let notebook = open_note_for_edit(call, &path, |path| {
        format!("The path {path} does not exist. Please provide a valid path.")
    })?;
    // If the old text holds a secret, Tome stored it redacted.
    let clean = call.redact_if_secret(&old);
    let mut snippet = String::new();
    let done = notebook
        .edit_note(&call.author(), path.notebook_path(), &mut |text| {
            let old = match &clean {
                Some(clean) if !text.contains(&old) => clean,
                _ => &old,
            };
            let (mut changed, mut at) = replace_unique(path.notebook_path(), text, old, &new)?;
            let mut bytes = new.len();
            if let Some((lines, clean)) = call.redact_around(text, old, &new) {
                (changed, at) = replace_unique(path.notebook_path(), text, &lines, &clean)?;
                bytes = clean.len();
            }
            snippet = render_snippet(&changed, at, bytes);
            Ok(changed)
        })
        .map_err(|error| replace_error(error, &path, &old))?;
    let message = format!("The memory file has been edited.\n{snippet}");
    Ok(success_answer(message, &path, &done.version))
}

/// Replaces the only occurrence of `old`. Returns the new text and the byte offset of the change.
fn replace_unique(
    path: &str,
    text: &str,
    old: &str,
    new: &str,
) -> std::result::Result<(String, usize), NotebookError> {
    // Models rarely write CRLF, even when the note has it.
    let windows = text.contains("\r\n") && !old.contains('\r') && !text.contains(old);
    let in_its_endings =
        |part: &str| if windows { part.replace('\n', "\r\n") } else { part.into() };
    let (old, new): (String, String) = (in_its_endings(old), in_its_endings(new));
    let path = path.to_owned();
    match find_occurrences(text, &old).as_slice() {
        [] => Err(NotebookError::TextNotFound { path, patch: 0 }),
        [at] => Ok((text.replacen(&old, &new, 1), *at)),
        several => {
            let mut lines: Vec<usize> = several.iter().map(|at| line_number(text, *at)).collect();
            lines.dedup();
            Err(NotebookError::TextAmbiguous { path, patch: 0, lines })
        }
    }
}

/// Finds all occurrences, overlapping ones included.
fn find_occurrences(text: &str, old: &str) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut from = 0;
    while offsets.len() < OCCURRENCES_MAX
        && let Some(at) = text.get(from..).and_then(|rest| rest.find(old))
    {
        offsets.push(from + at);
        from += at + old.chars().next().map_or(1, char::len_utf8);
    }
    offsets
}

/// Line number, from 1, of a byte offset.
fn line_number(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// Renders the changed lines with context and line numbers.
fn render_snippet(text: &str, at: usize, bytes: usize) -> String {
    let first = line_number(text, at).saturating_sub(CONTEXT_LINES).max(1);
    let last = line_number(text, at + bytes) + CONTEXT_LINES;
    let lines: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
    let (mut snippet, count) = number_lines(first, &lines, SNIPPET_CHARS_MAX);
    if count < lines.len() {
        snippet.push_str("\n…");
    }
    snippet
}

fn replace_error(error: NotebookError, path: &MemoryPath, old: &str) -> ToolError {
    let old = truncate_bytes(old, OLD_SHOWN_BYTES_MAX);
    match error {
        NotebookError::TextNotFound { .. } => not_found_error(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ))
        .without_prefix(),
        NotebookError::TextAmbiguous { lines, .. } => {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            ToolError::invalid(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                lines.join(", ")
            ))
            .without_prefix()
        }
        error => error.into(),
    }
}

pub(super) fn insert(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.require_text(&["path"])?)?;
    let line = args.require_number(&["insert_line"])?;
    let text = args.require_text(&["insert_text"])?;
    args.reject_unknown()?;
    let insert = call.redact(text);
    let notebook =
        open_note_for_edit(call, &path, |path| format!("The path {path} does not exist"))?;
    let done = notebook.edit_note(&call.author(), path.notebook_path(), &mut |text| {
        insert_after_line(text, line, &insert).map_err(|lines| {
            NotebookError::Invalid(format!(
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {lines}]"
            ))
        })
    })?;
    Ok(success_answer(format!("The file {path} has been edited."), &path, &done.version))
}

/// Inserts a text after line `after`; the error is the number of lines.
fn insert_after_line(text: &str, after: i64, insert: &str) -> std::result::Result<String, usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let after = usize::try_from(after).ok().filter(|after| *after <= lines.len());
    let (before, behind) =
        after.and_then(|after| lines.split_at_checked(after)).ok_or(lines.len())?;
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut changed = before.concat();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push_str(ending);
    }
    // A note keeps its line endings.
    let windows = ending == "\r\n" && !insert.contains('\r');
    changed.push_str(&if windows { insert.replace('\n', ending) } else { insert.to_owned() });
    if !insert.ends_with('\n') {
        changed.push_str(ending);
    }
    changed.extend(behind.iter().copied());
    Ok(changed)
}

pub(super) fn delete(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.require_text(&["path"])?)?;
    args.reject_unknown()?;
    reject_root(&path, "delete")?;
    let notebook = call.open_notebook(&project_notebook(call))?;
    let by = call.author();
    match classify_path(&notebook, &path)? {
        MemoryPathKind::Folder => {
            notebook.delete_folder(&by, path.notebook_path())?;
        }
        // The notebook rejects names that no note can have.
        MemoryPathKind::Missing if !path.is_note_name() => return Err(path_not_found(&path)),
        MemoryPathKind::Note | MemoryPathKind::Missing => {
            notebook.delete_note(&by, path.notebook_path()).map_err(|error| match error {
                NotebookError::NotFound { .. } => path_not_found(&path),
                NotebookError::IndexReadOnly(_) => {
                    ToolError::invalid("Cannot delete the index file.")
                }
                error => error.into(),
            })?;
        }
    }
    Ok(success_answer(format!("Successfully deleted {path}"), &path, "-"))
}

pub(super) fn rename(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let from = MemoryPath::parse(&args.require_text(&["old_path"])?)?;
    let to = MemoryPath::parse(&call.check_new_path(args.require_text(&["new_path"])?)?)?;
    args.reject_unknown()?;
    reject_root(&from, "rename")?;
    let notebook = call.open_notebook(&project_notebook(call))?;
    if matches!(classify_path(&notebook, &from)?, MemoryPathKind::Missing) && !from.is_note_name() {
        return Err(path_not_found(&from));
    }
    let taken =
        || ToolError::new(ToolFailure::Conflict, format!("The destination {to} already exists"));
    if to.is_root() {
        return Err(taken());
    }
    notebook.rename(&call.author(), from.notebook_path(), to.notebook_path()).map_err(|error| {
        match error {
            NotebookError::NotFound { .. } => path_not_found(&from),
            NotebookError::AlreadyExists(_) => taken(),
            error => error.into(),
        }
    })?;
    let message = format!("Successfully renamed {from} to {to}");
    Ok(ToolAnswer::from_text(
        message.as_str(),
        json!({ "success": true, "result": message, "path": to.to_string() }),
    ))
}

/// Opens the notebook if there is a note at the path; folders cannot be edited. The notebook itself
/// rejects the index and names that no note can have.
fn open_note_for_edit(
    call: &ToolInvocation<'_>,
    path: &MemoryPath,
    missing: fn(&MemoryPath) -> String,
) -> Result<std::sync::Arc<Notebook>> {
    let notebook = call.open_notebook(&project_notebook(call))?;
    let found = classify_path(&notebook, path)?;
    let is_missing = match found {
        MemoryPathKind::Note => false,
        MemoryPathKind::Folder => true,
        MemoryPathKind::Missing => match notebook.read_note(path.notebook_path()) {
            Err(NotebookError::NotFound { .. }) => true,
            _ => !path.is_note_name(),
        },
    };
    if is_missing { Err(not_found_error(missing(path))) } else { Ok(notebook) }
}

fn reject_root(path: &MemoryPath, what: &str) -> Result<()> {
    if path.is_root() {
        return Err(ToolError::invalid(format!("Cannot {what} the /memories directory itself")));
    }
    Ok(())
}

fn path_not_found(path: &MemoryPath) -> ToolError {
    not_found_error(format!("The path {path} does not exist"))
}

fn success_answer(message: String, path: &MemoryPath, version: &str) -> ToolAnswer {
    let json = json!({
        "success": true,
        "result": message,
        "path": path.to_string(),
        "version": version,
    });
    ToolAnswer::from_text(message, json)
}
