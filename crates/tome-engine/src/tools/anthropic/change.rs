//! The commands that change something below `/memories`.

use serde_json::json;
use tome_notebook::{Notebook, NotebookError};

use super::path::MemoryPath;
use super::view::numbered;
use super::{Found, Result, find, not_there, whose};
use crate::tools::answer::{Refusal, bounded};
use crate::tools::args::Args;
use crate::tools::call::Call;
use crate::tools::{Failure, ToolAnswer};

/// Bytes shown of a text that was not found.
const OLD_SHOWN_BYTES_MAX: usize = 500;

/// Occurrences reported for a text that is not unique.
const PLACES_MAX: usize = 100;

/// Lines shown before and after a change.
const AROUND: usize = 2;

/// Characters shown of a change.
const SNIPPET_CHARS_MAX: usize = 4_000;

pub(super) fn create(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let given = call.new_path(args.need(&["path"])?)?;
    let path = MemoryPath::parse(&given)?;
    let text = args.need(&["file_text"])?;
    args.finish()?;
    let text = call.cut(text);
    not_root(&path, "create")?;
    let notebook = call.open(&whose(call))?;
    let by = call.author();
    let done = notebook.create(&by, path.inner(), &text).map_err(|error| match error {
        NotebookError::Exists(_) => {
            Refusal::new(Failure::Conflict, format!("File {path} already exists"))
        }
        error => error.into(),
    })?;
    Ok(answer(format!("File created successfully at: {path}"), &path, &done.version))
}

pub(super) fn str_replace(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.need(&["path"])?)?;
    let old = args.need(&["old_str"])?;
    let new = args.need(&["new_str"])?;
    args.finish()?;
    if old.is_empty() {
        return Err(Refusal::invalid("old_str is empty: pass the text to replace"));
    }
    let new = call.cut(new);
    let notebook = note_to_change(call, &path, |path| {
        format!("The path {path} does not exist. Please provide a valid path.")
    })?;
    // If the old text holds a secret, Tome stored it redacted.
    let clean = call.without_secrets(&old);
    let mut snippet = String::new();
    let done = notebook
        .edit(&call.author(), path.inner(), &mut |text| {
            let old = match &clean {
                Some(clean) if !text.contains(&old) => clean,
                _ => &old,
            };
            let (mut changed, mut at) = replaced(path.inner(), text, old, &new)?;
            let mut bytes = new.len();
            if let Some((lines, clean)) = call.completed(text, old, &new) {
                (changed, at) = replaced(path.inner(), text, &lines, &clean)?;
                bytes = clean.len();
            }
            snippet = around(&changed, at, bytes);
            Ok(changed)
        })
        .map_err(|error| not_replaced(error, &path, &old))?;
    let said = format!("The memory file has been edited.\n{snippet}");
    Ok(answer(said, &path, &done.version))
}

/// Replaces the only occurrence of `old`. Returns the new text and the byte offset of the change.
fn replaced(
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
    match places(text, &old).as_slice() {
        [] => Err(NotebookError::TextNotFound { path, patch: 0 }),
        [at] => Ok((text.replacen(&old, &new, 1), *at)),
        several => {
            let mut lines: Vec<usize> = several.iter().map(|at| line_at(text, *at)).collect();
            lines.dedup();
            Err(NotebookError::TextFoundTwice { path, patch: 0, lines })
        }
    }
}

/// Finds all occurrences, overlapping ones included.
fn places(text: &str, old: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while places.len() < PLACES_MAX
        && let Some(at) = text.get(from..).and_then(|rest| rest.find(old))
    {
        places.push(from + at);
        from += at + old.chars().next().map_or(1, char::len_utf8);
    }
    places
}

/// Line number, from 1, of a byte offset.
fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// Renders the changed lines with context and line numbers.
fn around(text: &str, at: usize, bytes: usize) -> String {
    let first = line_at(text, at).saturating_sub(AROUND).max(1);
    let last = line_at(text, at + bytes) + AROUND;
    let lines: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
    let (mut snippet, count) = numbered(first, &lines, SNIPPET_CHARS_MAX);
    if count < lines.len() {
        snippet.push_str("\n…");
    }
    snippet
}

fn not_replaced(error: NotebookError, path: &MemoryPath, old: &str) -> Refusal {
    let old = bounded(old, OLD_SHOWN_BYTES_MAX);
    match error {
        NotebookError::TextNotFound { .. } => not_there(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ))
        .verbatim(),
        NotebookError::TextFoundTwice { lines, .. } => {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            Refusal::invalid(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                lines.join(", ")
            ))
            .verbatim()
        }
        error => error.into(),
    }
}

pub(super) fn insert(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.need(&["path"])?)?;
    let line = args.need_number(&["insert_line"])?;
    let text = args.need(&["insert_text"])?;
    args.finish()?;
    let insert = call.cut(text);
    let notebook = note_to_change(call, &path, |path| format!("The path {path} does not exist"))?;
    let done = notebook.edit(&call.author(), path.inner(), &mut |text| {
        inserted(text, line, &insert).map_err(|lines| {
            NotebookError::Invalid(format!(
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {lines}]"
            ))
        })
    })?;
    Ok(answer(format!("The file {path} has been edited."), &path, &done.version))
}

/// Inserts a text after line `after`; the error is the number of lines.
fn inserted(text: &str, after: i64, insert: &str) -> std::result::Result<String, usize> {
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

pub(super) fn delete(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.need(&["path"])?)?;
    args.finish()?;
    not_root(&path, "delete")?;
    let notebook = call.open(&whose(call))?;
    let by = call.author();
    match find(&notebook, &path)? {
        Found::Folder => {
            notebook.delete_folder(&by, path.inner())?;
        }
        // The notebook rejects names that no note can have.
        Found::Nothing if !path.is_note_name() => return Err(gone(&path)),
        Found::Note | Found::Nothing => {
            notebook.delete(&by, path.inner()).map_err(|error| match error {
                NotebookError::NotFound { .. } => gone(&path),
                NotebookError::Reserved(_) => Refusal::invalid("Cannot delete the index file."),
                error => error.into(),
            })?;
        }
    }
    Ok(answer(format!("Successfully deleted {path}"), &path, "-"))
}

pub(super) fn rename(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let from = MemoryPath::parse(&args.need(&["old_path"])?)?;
    let to = MemoryPath::parse(&call.new_path(args.need(&["new_path"])?)?)?;
    args.finish()?;
    not_root(&from, "rename")?;
    let notebook = call.open(&whose(call))?;
    if matches!(find(&notebook, &from)?, Found::Nothing) && !from.is_note_name() {
        return Err(gone(&from));
    }
    let taken = || Refusal::new(Failure::Conflict, format!("The destination {to} already exists"));
    if to.is_root() {
        return Err(taken());
    }
    notebook.rename(&call.author(), from.inner(), to.inner()).map_err(|error| match error {
        NotebookError::NotFound { .. } => gone(&from),
        NotebookError::Exists(_) => taken(),
        error => error.into(),
    })?;
    let said = format!("Successfully renamed {from} to {to}");
    Ok(ToolAnswer::said(
        said.as_str(),
        json!({ "success": true, "result": said, "path": to.to_string() }),
    ))
}

/// Opens the notebook if there is a note at the path; folders cannot be edited. The notebook itself
/// rejects the index and names that no note can have.
fn note_to_change(
    call: &Call<'_>,
    path: &MemoryPath,
    missing: fn(&MemoryPath) -> String,
) -> Result<std::sync::Arc<Notebook>> {
    let notebook = call.open(&whose(call))?;
    let found = find(&notebook, path)?;
    let is_missing = match found {
        Found::Note => false,
        Found::Folder => true,
        Found::Nothing => match notebook.read(path.inner()) {
            Err(NotebookError::NotFound { .. }) => true,
            _ => !path.is_note_name(),
        },
    };
    if is_missing { Err(not_there(missing(path))) } else { Ok(notebook) }
}

fn not_root(path: &MemoryPath, what: &str) -> Result<()> {
    if path.is_root() {
        return Err(Refusal::invalid(format!("Cannot {what} the /memories directory itself")));
    }
    Ok(())
}

fn gone(path: &MemoryPath) -> Refusal {
    not_there(format!("The path {path} does not exist"))
}

fn answer(said: String, path: &MemoryPath, version: &str) -> ToolAnswer {
    let json = json!({
        "success": true,
        "result": said,
        "path": path.to_string(),
        "version": version,
    });
    ToolAnswer::said(said, json)
}
