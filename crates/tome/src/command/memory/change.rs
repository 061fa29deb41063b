//! `tome memory write`, `append`, `patch`, `update`, `delete`: changes notes through the tools that agents
//! use.

use std::io::Write as _;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tome_terminal::{RED, RESET, format_bytes, format_counted};

use super::report_change;
use crate::cli::memory::{AppendArgs, PatchArgs, UpdateArgs, WriteArgs};
use crate::command::notebook_client::{NotebookCommands, parse_tool_result, read_input};
use crate::command::{CommandError, Outcome};

pub fn write_note(notes: &NotebookCommands<'_>, args: &WriteArgs) -> Result<Outcome> {
    let content = read_input(args.content.as_deref(), args.file.as_ref(), "--content TEXT")?;
    if content.is_empty() && args.content.is_none() {
        let refusal = CommandError::bad_input("nothing to write: the input is empty");
        return Err(refusal.with_hint("use `--content ''` to empty a note").into());
    }
    let mut arguments = Map::new();
    arguments.insert("path".into(), json!(args.path));
    arguments.insert("content".into(), json!(content));
    for (name, value) in [
        ("name", &args.name),
        ("description", &args.description),
        ("type", &args.note_type),
        ("if_version", &args.if_version),
    ] {
        if let Some(value) = value {
            arguments.insert(name.into(), json!(value));
        }
    }
    let answer = notes.call_tool("memory_write", Value::Object(arguments))?;
    let size = parse_tool_result(&answer).get("size").and_then(Value::as_u64);
    let size = size.map(|size| format!(" ({})", format_bytes(size))).unwrap_or_default();
    report_change(notes, &answer, &format!("saved {}{size}", args.path))
}

pub fn append_entry(notes: &NotebookCommands<'_>, args: &AppendArgs) -> Result<Outcome> {
    let entry = read_input(args.entry.as_deref(), None, "--entry TEXT")?;
    let mut arguments = json!({"path": args.path, "entry": entry});
    if let (Some(summary), Some(map)) = (&args.summary, arguments.as_object_mut()) {
        map.insert("summary".into(), json!(summary));
    }
    let answer = notes.call_tool("memory_append", arguments)?;
    report_change(notes, &answer, &format!("added to {}", args.path))
}

pub fn patch_note(notes: &NotebookCommands<'_>, args: &PatchArgs) -> Result<Outcome> {
    let patches = parse_patches(args)?;
    let count = patches.as_array().map_or(0, Vec::len);
    let answer = notes.call_tool("memory_patch", json!({"path": args.path, "patches": patches}))?;
    let patched = format_counted(count as u64, "place", "places");
    report_change(notes, &answer, &format!("changed {patched} in {}", args.path))
}

fn parse_patches(args: &PatchArgs) -> Result<Value> {
    if let Some(text) = &args.patches {
        return serde_json::from_str(text).map_err(|error| {
            CommandError::bad_input(format!("--patches is not JSON: {error}"))
                .with_hint(r#"write --patches '[{"oldText": "…", "newText": "…"}]'"#)
                .into()
        });
    }
    if args.old.is_empty() || args.old.len() != args.new.len() {
        let (old, new) = (args.old.len(), args.new.len());
        let message = format!("{old} --old and {new} --new: give one --new for every --old");
        return Err(CommandError::bad_input(message).into());
    }
    let pairs = args.old.iter().zip(&args.new);
    Ok(pairs.map(|(old, new)| json!({"oldText": old, "newText": new})).collect())
}

pub fn update_note(notes: &NotebookCommands<'_>, args: &UpdateArgs) -> Result<Outcome> {
    let arguments = json!({"path": args.path, "old_text": args.old, "new_text": args.new});
    let answer = notes.call_tool("memory_update", arguments)?;
    report_change(notes, &answer, &format!("changed {}", args.path))
}

/// Deletes each note; a failure does not stop the others.
pub fn delete_notes(notes: &NotebookCommands<'_>, paths: &[String]) -> Result<Outcome> {
    let mut failed: Option<anyhow::Error> = None;
    for path in paths {
        match notes.call_tool("memory_delete", json!({"path": path})) {
            Ok(answer) => {
                let restore = notes.hint_command("restore", Some(path));
                let done = format!("deleted {path}; `{restore}` restores it");
                report_change(notes, &answer, &done)?;
            }
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    writeln!(tome_terminal::stderr(), "{RED}error:{RESET} {before}")?;
                }
            }
        }
    }
    failed.map_or(Ok(Outcome::Done), Err)
}
