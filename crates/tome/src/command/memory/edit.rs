//! `tome memory edit`: opens a note in the user's editor.
//!
//! The editor gets a copy. It is written back only if the note has not changed meanwhile; if saving
//! fails, the copy is kept and its path printed.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;
use tempfile::TempDir;
use tome_model::Scope;

use super::history::is_not_found;
use super::{fetch_version, report_change};
use crate::command::notebook_client::NotebookCommands;
use crate::command::shell_word::quote_shell;
use crate::command::{CommandError, Outcome, classify_error};
use crate::platform;

/// The note when the editor was opened.
struct OriginalNote {
    text: String,
    /// Empty if there was no note.
    version: String,
}

pub fn run(notes: &NotebookCommands<'_>, path: &str) -> Result<Outcome> {
    let editor = find_editor()?;
    let before = load_original(notes, path)?;
    let copy = EditedCopy::create(path, &before.text)?;
    let status = platform::editor_command(&editor, &copy.file).status();
    let status = status.with_context(|| format!("cannot run {editor}"))?;
    if !status.success() {
        return Err(editor_failed(
            notes,
            path,
            &before,
            copy,
            &format!("{editor} failed with {status}"),
        ));
    }
    let text = std::fs::read(&copy.file).with_context(|| format!("{editor} deleted the file"))?;
    if text == before.text.as_bytes() {
        return report_unchanged(notes, path);
    }
    let written = String::from_utf8(text)
        .map_err(|_| CommandError::bad_input("the edited file is not UTF-8 text").into())
        .and_then(|text| {
            let arguments = json!({"path": path, "content": text, "if_version": before.version});
            notes.call_tool("memory_write", arguments)
        });
    match written {
        Ok(answer) => report_change(notes, &answer, &format!("saved {path}")),
        Err(error) => Err(save_failed(notes, path, &before, copy, &error)),
    }
}

fn find_editor() -> Result<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).ok_or_else(|| {
        CommandError::bad_input("no editor is set")
            .with_hint("set EDITOR, such as EDITOR=nano, or use `tome memory write` and `tome memory patch`")
            .into()
    })
}

fn load_original(notes: &NotebookCommands<'_>, path: &str) -> Result<OriginalNote> {
    match fetch_version(notes, path, "") {
        // A session without an overview returns the template, which is not a note yet.
        Ok(note) if notes.scope() == Scope::Session && !is_listed(notes, &note.path)? => {
            Ok(OriginalNote { text: note.text, version: String::new() })
        }
        Ok(note) => Ok(OriginalNote { text: note.text, version: note.version }),
        Err(error) if is_not_found(&error) => Ok(OriginalNote {
            text: new_note_template(notes.scope(), path),
            version: String::new(),
        }),
        Err(error) => Err(error),
    }
}

fn is_listed(notes: &NotebookCommands<'_>, path: &str) -> Result<bool> {
    let listed =
        notes.call_idempotent(async |client| client.list_notes(notes.notebook_ref()).await)?.notes;
    Ok(listed.iter().any(|note| note.path == path))
}

/// The initial text of a new note.
fn new_note_template(scope: Scope, path: &str) -> String {
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.unwrap_or_default().replace(['-', '_'], " ");
    if scope == Scope::Project && !path.contains('/') {
        format!("---\nname: {name}\ndescription: \ntype: project\n---\n\n")
    } else {
        format!("# {name}\n\n")
    }
}

fn report_unchanged(notes: &NotebookCommands<'_>, path: &str) -> Result<Outcome> {
    if notes.context.json {
        notes.context.print_json(&json!({"path": path, "changed": false}))?;
    } else {
        writeln!(tome_terminal::stdout(), "{path} was not changed")?;
    }
    Ok(Outcome::Done)
}

/// Reports a failed editor, and keeps the copy if the editor saved changes before it failed.
fn editor_failed(
    notes: &NotebookCommands<'_>,
    path: &str,
    before: &OriginalNote,
    copy: EditedCopy,
    why: &str,
) -> anyhow::Error {
    let refusal = CommandError::failed(format!("{why}; nothing was written"));
    let saved = std::fs::read(&copy.file).is_ok_and(|text| text != before.text.as_bytes());
    if !saved {
        return refusal.into();
    }
    let shown = quote_shell(&copy.keep_file().to_string_lossy());
    let write = notes.hint_command("write", Some(path));
    let hint = format!("your changes are kept in {shown}; save them with `{write} --file {shown}`");
    refusal.with_hint(hint).into()
}

/// Keeps the edited copy after a failed write, with a hint on how to save it.
fn save_failed(
    notes: &NotebookCommands<'_>,
    path: &str,
    before: &OriginalNote,
    copy: EditedCopy,
    error: &anyhow::Error,
) -> anyhow::Error {
    let code = error
        .downcast_ref::<CommandError>()
        .map_or(classify_error(error).0, |refusal| refusal.code);
    let is_conflict = fetch_version(notes, path, "").is_ok_and(|now| now.version != before.version);
    let file = copy.keep_file();
    let shown = quote_shell(&file.to_string_lossy());
    let hint = if is_conflict {
        format!(
            "your text is kept in {shown}; see what changed with `{}`, merge the two, and save with `{} --file {shown}`",
            notes.hint_command("diff", Some(path)),
            notes.hint_command("write", Some(path))
        )
    } else {
        format!(
            "your text is kept in {shown}; fix it and save with `{} --file {shown}`",
            notes.hint_command("write", Some(path))
        )
    };
    let message = format!("{path} was not saved: {error:#}");
    CommandError { message, code, hint: Some(hint) }.into()
}

/// The file that the editor opens: named like the note, in a temporary folder.
struct EditedCopy {
    folder: TempDir,
    file: PathBuf,
}

impl EditedCopy {
    fn create(path: &str, text: &str) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("tome-edit-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("note.md");
        let file = folder.path().join(name);
        tome_home::write_atomic(&file, text.as_bytes())?;
        Ok(Self { folder, file })
    }

    /// Keeps the file on disk and returns its path.
    fn keep_file(self) -> PathBuf {
        let _ = self.folder.keep();
        self.file
    }
}
