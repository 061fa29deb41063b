//! `tome memory`: notes for people. All changes go through the same tools that agents use.

mod change;
mod diff;
mod edit;
mod history;
mod list;

use anyhow::Result;
use serde_json::json;
use tome_proto::v1;

use super::notebook_client::{NotebookCommands, parse_tool_result, print_text, print_with_newline};
use super::{CommandContext, Outcome};
use crate::cli::memory::{MemoryArgs, MemoryCommand};

pub fn run(context: &CommandContext, args: &MemoryArgs) -> Result<Outcome> {
    let notes = |command: &str| {
        NotebookCommands::new(context, &args.notebook, &format!("tome memory {command}"))
    };
    match &args.command {
        MemoryCommand::List => list::run(&notes("list")?),
        MemoryCommand::View(view) => view_index(&notes("view")?, view.files),
        MemoryCommand::Read(read) => read_note(&notes("read")?, &read.path),
        MemoryCommand::Write(write) => change::write_note(&notes("write")?, write),
        MemoryCommand::Append(append) => change::append_entry(&notes("append")?, append),
        MemoryCommand::Patch(patch) => change::patch_note(&notes("patch")?, patch),
        MemoryCommand::Update(update) => change::update_note(&notes("update")?, update),
        MemoryCommand::Delete(delete) => change::delete_notes(&notes("delete")?, &delete.paths),
        MemoryCommand::Edit(edit) => edit::run(&notes("edit")?, &edit.path),
        MemoryCommand::Log(log) => history::print_log(&notes("log")?, log),
        MemoryCommand::Show(show) => history::show_version(&notes("show")?, show),
        MemoryCommand::Diff(diff) => diff::run(&notes("diff")?, diff),
        MemoryCommand::Restore(restore) => history::restore_version(&notes("restore")?, restore),
    }
}

/// Prints the index as agents see it, or the list of files.
fn view_index(notes: &NotebookCommands<'_>, files: bool) -> Result<Outcome> {
    let target = if files { "files" } else { "index" };
    let answer = notes.call_read_tool("memory_view", json!({"target": target}))?;
    if notes.context.json {
        notes.context.print_json(&json!({"target": target, "text": answer.text}))?;
    } else {
        print_with_newline(&answer.text)?;
    }
    Ok(Outcome::Done)
}

pub fn read_note(notes: &NotebookCommands<'_>, path: &str) -> Result<Outcome> {
    let note = fetch_version(notes, path, "")
        .map_err(|error| history::with_restore_hint(notes, path, error))?;
    if notes.context.json {
        notes.context.print_json(&note_content_json(&note))?;
    } else {
        print_text(&note.text)?;
    }
    Ok(Outcome::Done)
}

pub use edit::run as edit_note;
pub use list::run as list;

/// Fetches a version of a note; an empty version means the current one.
fn fetch_version(
    notes: &NotebookCommands<'_>,
    path: &str,
    version: &str,
) -> Result<v1::GetVersionResponse> {
    let request = v1::GetVersionRequest {
        whose: Some(notes.notebook_ref()),
        path: path.to_owned(),
        version: version.to_owned(),
    };
    notes.call_idempotent(async |client| client.get_note_version(request.clone()).await)
}

fn note_content_json(note: &v1::GetVersionResponse) -> serde_json::Value {
    json!({"path": note.path, "content": note.text, "version": note.version})
}

/// Loads the current text of a note.
pub fn load_note(notes: &NotebookCommands<'_>, path: &str) -> Result<String> {
    Ok(fetch_version(notes, path, "")?.text)
}

/// Prints the tool's JSON, or a one-line message.
fn report_change(
    notes: &NotebookCommands<'_>,
    answer: &v1::CallToolResponse,
    done: &str,
) -> Result<Outcome> {
    use std::io::Write;
    if notes.context.json {
        notes.context.print_json(&parse_tool_result(answer))?;
    } else {
        writeln!(tome_terminal::stdout(), "{done}")?;
    }
    Ok(Outcome::Done)
}
