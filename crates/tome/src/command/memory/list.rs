//! `tome memory list`: prints the notes as a table, grouped by kind.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Millis, Scope};
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, RESET, WrappedWriter, format_bytes, format_counted, one_line, print_table,
};

use crate::command::Outcome;
use crate::command::notebook_client::NotebookCommands;

/// The kinds in the order of the list, with their titles. Typed notes are listed under their type.
const NOTE_GROUPS: [(&str, &str); 11] = [
    ("overview", "Overview"),
    ("detail", "Detail"),
    ("user", "User"),
    ("feedback", "Feedback"),
    ("project", "Project"),
    ("reference", "Reference"),
    ("typed", "Other"),
    ("fact", "Facts"),
    ("episode", "Episodes"),
    ("insight", "Lessons"),
    ("guide", "Guides"),
];

const SUMMARY_CHARS_MAX: usize = 80;

pub fn run(notes: &NotebookCommands<'_>) -> Result<Outcome> {
    let answer =
        notes.call_idempotent(async |client| client.list_notes(notes.notebook_ref()).await)?;
    let (listed, left_out) = (answer.notes, answer.left_out);
    if notes.context.json {
        listed.iter().try_for_each(|note| notes.context.print_json(&note_json(note)))?;
    } else if listed.is_empty() {
        print_empty(notes)?;
    } else {
        print_notes(notes, &listed, left_out)?;
    }
    Ok(Outcome::Done)
}

fn print_notes(
    notes: &NotebookCommands<'_>,
    listed: &[v1::ListedNote],
    left_out: u64,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    // One table for all groups, so that the columns line up.
    let mut rows = Vec::new();
    for (group, title) in NOTE_GROUPS {
        let mut title = title;
        for note in listed.iter().filter(|note| group_of(note) == group) {
            rows.push(vec![
                title.to_owned(),
                note.path.clone(),
                format_bytes(note.bytes),
                one_line(&note.summary, SUMMARY_CHARS_MAX),
            ]);
            title = "";
        }
    }
    print_table(&mut out, &["", "note", ">size", "summary"], &rows)?;
    let size = format_bytes(listed.iter().map(|note| note.bytes).sum());
    let count = format_counted(listed.len() as u64, "note", "notes");
    let read = notes.hint_command("read <note>", None);
    writeln!(out, "\n  {DIM}{count}, {size}; `{read}` prints one{RESET}")?;
    if left_out > 0 {
        let more = format_counted(left_out, "more note", "more notes");
        writeln!(out, "  {DIM}{more} not shown{RESET}")?;
    }
    Ok(())
}

fn group_of(note: &v1::ListedNote) -> &str {
    if note.kind == "typed" && !note.note_type.is_empty() { &note.note_type } else { &note.kind }
}

fn print_empty(notes: &NotebookCommands<'_>) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let (what, first) = match notes.scope() {
        Scope::Session => ("This session has no notes yet.", "overview.md"),
        Scope::Project => ("This project has no notes yet.", "facts/project.md"),
        Scope::Coder => ("There are no lessons yet.", ""),
    };
    writeln!(out, "{BOLD}{what}{RESET}")?;
    if first.is_empty() {
        writeln!(out, "  Store the first: `tome coder store --help`.")?;
    } else {
        let mut out = WrappedWriter::new(out, 4);
        let write = notes.hint_command("append", Some(first));
        writeln!(out, "  Write the first: `{write} --entry \"- the tests need a database\"`,")?;
        writeln!(out, "  or with an editor: `{}`.", notes.hint_command("edit", Some(first)))?;
    }
    Ok(())
}

fn note_json(note: &v1::ListedNote) -> Value {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    json!({
        "path": note.path, "kind": note.kind, "type": given(&note.note_type), "name": note.name,
        "summary": note.summary, "size": note.bytes, "updated": given(&note.updated),
        "modified": Millis(note.modified_ms), "version": note.version,
    })
}
