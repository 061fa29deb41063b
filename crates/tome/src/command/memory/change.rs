//! `tome memory write`, `append`, `patch`, `update`, `delete`: changes notes through the tools that agents
//! use.

use std::io::Write as _;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::report;
use crate::cli::notes::{Append, Patch, Update, Write};
use crate::command::notes::{Notes, input, result};
use crate::command::{Outcome, Refusal};
use crate::render::{PLAIN, RED, bytes, counted};

pub fn write(notes: &Notes<'_>, asked: &Write) -> Result<Outcome> {
    let content = input(asked.content.as_deref(), asked.file.as_ref(), "--content TEXT")?;
    if content.is_empty() && asked.content.is_none() {
        let refusal = Refusal::bad_input("nothing to write: the input is empty");
        return Err(refusal.hint("use `--content ''` to empty a note").into());
    }
    let mut arguments = Map::new();
    arguments.insert("path".into(), json!(asked.path));
    arguments.insert("content".into(), json!(content));
    for (name, value) in [
        ("name", &asked.name),
        ("description", &asked.description),
        ("type", &asked.note_type),
        ("if_version", &asked.if_version),
    ] {
        if let Some(value) = value {
            arguments.insert(name.into(), json!(value));
        }
    }
    let answer = notes.call("memory_write", Value::Object(arguments))?;
    let size = result(&answer).get("size").and_then(Value::as_u64);
    let size = size.map(|size| format!(" ({})", bytes(size))).unwrap_or_default();
    report(notes, &answer, &format!("saved {}{size}", asked.path))
}

pub fn append(notes: &Notes<'_>, asked: &Append) -> Result<Outcome> {
    let entry = input(asked.entry.as_deref(), None, "--entry TEXT")?;
    let mut arguments = json!({"path": asked.path, "entry": entry});
    if let (Some(summary), Some(map)) = (&asked.summary, arguments.as_object_mut()) {
        map.insert("summary".into(), json!(summary));
    }
    let answer = notes.call("memory_append", arguments)?;
    report(notes, &answer, &format!("added to {}", asked.path))
}

pub fn patch(notes: &Notes<'_>, asked: &Patch) -> Result<Outcome> {
    let patches = patches(asked)?;
    let count = patches.as_array().map_or(0, Vec::len);
    let answer = notes.call("memory_patch", json!({"path": asked.path, "patches": patches}))?;
    let places = counted(count as u64, "place", "places");
    report(notes, &answer, &format!("changed {places} in {}", asked.path))
}

fn patches(asked: &Patch) -> Result<Value> {
    if let Some(text) = &asked.patches {
        return serde_json::from_str(text).map_err(|error| {
            Refusal::bad_input(format!("--patches is not JSON: {error}"))
                .hint(r#"write --patches '[{"oldText": "…", "newText": "…"}]'"#)
                .into()
        });
    }
    if asked.old.is_empty() || asked.old.len() != asked.new.len() {
        let (old, new) = (asked.old.len(), asked.new.len());
        let message = format!("{old} --old and {new} --new: give one --new for every --old");
        return Err(Refusal::bad_input(message).into());
    }
    let pairs = asked.old.iter().zip(&asked.new);
    Ok(pairs.map(|(old, new)| json!({"oldText": old, "newText": new})).collect())
}

pub fn update(notes: &Notes<'_>, asked: &Update) -> Result<Outcome> {
    let arguments = json!({"path": asked.path, "old_text": asked.old, "new_text": asked.new});
    let answer = notes.call("memory_update", arguments)?;
    report(notes, &answer, &format!("changed {}", asked.path))
}

/// Deletes each note; a failure does not stop the others.
pub fn delete(notes: &Notes<'_>, paths: &[String]) -> Result<Outcome> {
    let mut failed: Option<anyhow::Error> = None;
    for path in paths {
        match notes.call("memory_delete", json!({"path": path})) {
            Ok(answer) => {
                let restore = notes.hinted("restore", Some(path));
                let done = format!("deleted {path}; `{restore}` restores it");
                report(notes, &answer, &done)?;
            }
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    writeln!(crate::terminal::stderr(), "{RED}error:{PLAIN} {before}")?;
                }
            }
        }
    }
    failed.map_or(Ok(Outcome::Done), Err)
}
