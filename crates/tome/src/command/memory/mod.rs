//! `tome memory`: notes for people. All changes go through the same tools that agents use.

mod change;
mod diff;
mod edit;
mod history;
mod list;

use anyhow::Result;
use serde_json::json;
use tome_proto::v1;

use super::notes::{Notes, print_said, print_text, result};
use super::{Context, Outcome};
use crate::cli::notes::{Memory, MemoryCommand};

pub fn run(context: &Context, asked: &Memory) -> Result<Outcome> {
    let notes =
        |command: &str| Notes::new(context, &asked.place, &format!("tome memory {command}"));
    match &asked.command {
        MemoryCommand::List => list::run(&notes("list")?),
        MemoryCommand::View(view) => self::view(&notes("view")?, view.files),
        MemoryCommand::Read(read) => self::read(&notes("read")?, &read.path),
        MemoryCommand::Write(write) => change::write(&notes("write")?, write),
        MemoryCommand::Append(append) => change::append(&notes("append")?, append),
        MemoryCommand::Patch(patch) => change::patch(&notes("patch")?, patch),
        MemoryCommand::Update(update) => change::update(&notes("update")?, update),
        MemoryCommand::Delete(delete) => change::delete(&notes("delete")?, &delete.paths),
        MemoryCommand::Edit(edit) => edit::run(&notes("edit")?, &edit.path),
        MemoryCommand::Log(log) => history::log(&notes("log")?, log),
        MemoryCommand::Show(show) => history::show(&notes("show")?, show),
        MemoryCommand::Diff(diff) => diff::run(&notes("diff")?, diff),
        MemoryCommand::Restore(restore) => history::restore(&notes("restore")?, restore),
    }
}

/// Prints the index as agents see it, or the list of files.
fn view(notes: &Notes<'_>, files: bool) -> Result<Outcome> {
    let target = if files { "files" } else { "index" };
    let answer = notes.consult("memory_view", json!({"target": target}))?;
    if notes.context.json {
        notes.context.print_json(&json!({"target": target, "text": answer.text}))?;
    } else {
        print_said(&answer.text)?;
    }
    Ok(Outcome::Done)
}

pub fn read(notes: &Notes<'_>, path: &str) -> Result<Outcome> {
    let note = version(notes, path, "").map_err(|error| history::or_deleted(notes, path, error))?;
    if notes.context.json {
        notes.context.print_json(&as_json(&note))?;
    } else {
        print_text(&note.text)?;
    }
    Ok(Outcome::Done)
}

pub use list::run as list;

/// Fetches a version of a note; an empty version means the current one.
fn version(notes: &Notes<'_>, path: &str, version: &str) -> Result<v1::GetVersionResponse> {
    let request = v1::GetVersionRequest {
        whose: Some(notes.whose()),
        path: path.to_owned(),
        version: version.to_owned(),
    };
    notes.ask(async |client| client.note_version(request.clone()).await)
}

fn as_json(note: &v1::GetVersionResponse) -> serde_json::Value {
    json!({"path": note.path, "content": note.text, "version": note.version})
}

/// Prints the tool's JSON, or a one-line message.
fn report(notes: &Notes<'_>, answer: &v1::CallToolResponse, done: &str) -> Result<Outcome> {
    use std::io::Write;
    if notes.context.json {
        notes.context.print_json(&result(answer))?;
    } else {
        writeln!(crate::terminal::stdout(), "{done}")?;
    }
    Ok(Outcome::Done)
}
