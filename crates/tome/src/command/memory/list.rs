//! `tome memory list`: prints the notes as a table, grouped by kind.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Millis, Scope};
use tome_proto::v1;

use crate::command::Outcome;
use crate::command::notes::Notes;
use crate::render::{BOLD, DIM, PLAIN, bytes, counted, one_line, table};

/// The kinds in the order of the list, with their titles. Typed notes are listed under their type.
const GROUPS: [(&str, &str); 11] = [
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

pub fn run(notes: &Notes<'_>) -> Result<Outcome> {
    let answer = notes.ask(async |client| client.notes(notes.whose()).await)?;
    let (listed, left_out) = (answer.notes, answer.left_out);
    if notes.context.json {
        listed.iter().try_for_each(|note| notes.context.print_json(&as_json(note)))?;
    } else if listed.is_empty() {
        nothing_yet(notes)?;
    } else {
        print(notes, &listed, left_out)?;
    }
    Ok(Outcome::Done)
}

fn print(notes: &Notes<'_>, listed: &[v1::ListedNote], left_out: u64) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    // One table for all groups, so that the columns line up.
    let mut rows = Vec::new();
    for (group, title) in GROUPS {
        let mut title = title;
        for note in listed.iter().filter(|note| group_of(note) == group) {
            rows.push(vec![
                title.to_owned(),
                note.path.clone(),
                bytes(note.bytes),
                one_line(&note.summary, SUMMARY_CHARS_MAX),
            ]);
            title = "";
        }
    }
    table(&mut out, &["", "note", ">size", "summary"], &rows)?;
    let size = bytes(listed.iter().map(|note| note.bytes).sum());
    let count = counted(listed.len() as u64, "note", "notes");
    let read = notes.hinted("read <note>", None);
    writeln!(out, "\n  {DIM}{count}, {size}; `{read}` prints one{PLAIN}")?;
    if left_out > 0 {
        let more = counted(left_out, "more note", "more notes");
        writeln!(out, "  {DIM}{more} not shown{PLAIN}")?;
    }
    Ok(())
}

fn group_of(note: &v1::ListedNote) -> &str {
    if note.kind == "typed" && !note.note_type.is_empty() { &note.note_type } else { &note.kind }
}

fn nothing_yet(notes: &Notes<'_>) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    let (what, first) = match notes.scope() {
        Scope::Session => ("This session has no notes yet.", "overview.md"),
        Scope::Project => ("This project has no notes yet.", "facts/project.md"),
        Scope::Coder => ("There are no lessons yet.", ""),
    };
    writeln!(out, "{BOLD}{what}{PLAIN}")?;
    if first.is_empty() {
        writeln!(out, "  Store the first: `tome coder store --help`.")?;
    } else {
        let write = notes.hinted("append", Some(first));
        writeln!(out, "  Write the first: `{write} --entry \"- the tests need a database\"`,")?;
        writeln!(out, "  or with an editor: `{}`.", notes.hinted("edit", Some(first)))?;
    }
    Ok(())
}

fn as_json(note: &v1::ListedNote) -> Value {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    json!({
        "path": note.path, "kind": note.kind, "type": given(&note.note_type), "name": note.name,
        "summary": note.summary, "size": note.bytes, "updated": given(&note.updated),
        "modified": Millis(note.modified_ms), "version": note.version,
    })
}
