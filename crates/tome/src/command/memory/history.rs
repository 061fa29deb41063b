//! `tome memory log`, `show`, `restore`: the history of notes.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;

use super::{as_json, version};
use crate::cli::notes::{Log, Version};
use crate::command::notes::{Notes, print_text};
use crate::command::{Outcome, Refusal};
use crate::render::{DIM, PLAIN, bytes, local, one_line, table};

/// The limit for `-n 0`.
const ALL: u32 = u32::MAX;

/// Takes the place of the version for a deleted note.
pub const DELETED: &str = "-";

pub fn log(notes: &Notes<'_>, asked: &Log) -> Result<Outcome> {
    let limit = if asked.limit == 0 { ALL } else { asked.limit };
    let found = versions(notes, asked.path.as_deref(), limit)?;
    if notes.context.json {
        found.versions.iter().try_for_each(|version| notes.context.print_json(&line(version)))?;
        return Ok(Outcome::Done);
    }
    if found.versions.is_empty() {
        writeln!(crate::terminal::stderr(), "no notes have been written yet")?;
        return Ok(Outcome::Done);
    }
    print(&found)?;
    Ok(Outcome::Done)
}

/// Fetches the history, newest first. Fails for a path that never was a note.
pub fn versions(notes: &Notes<'_>, path: Option<&str>, limit: u32) -> Result<v1::GetLogResponse> {
    let request = v1::GetLogRequest {
        whose: Some(notes.whose()),
        path: path.unwrap_or_default().to_owned(),
        limit,
    };
    let found = notes.ask(async |client| client.note_log(request.clone()).await)?;
    match path {
        Some(path) if found.versions.is_empty() => {
            let refusal = Refusal::not_found(format!("there has never been a note {path} here"));
            Err(refusal.hint("`tome memory log` lists all notes that ever existed").into())
        }
        _ => Ok(found),
    }
}

fn print(found: &v1::GetLogResponse) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    let rows: Vec<Vec<String>> = found
        .versions
        .iter()
        .map(|version| {
            vec![
                local(Millis(version.at_ms)),
                version.version.clone(),
                format!("{} +{} −{}", version.op, version.added, version.removed),
                version.path.clone(),
                whom(version.by.as_ref()),
                version.by.as_ref().map(|by| one_line(&by.tool, 40)).unwrap_or_default(),
            ]
        })
        .collect();
    table(&mut out, &["when", "version", "what", "note", "by", "with"], &rows)?;
    let more = found.total.saturating_sub(found.versions.len() as u64);
    if more > 0 {
        writeln!(out, "  {DIM}and {more} older; -n 0 shows all{PLAIN}")?;
    }
    Ok(())
}

/// Renders the author of a version.
pub fn whom(by: Option<&v1::Author>) -> String {
    let Some(by) = by else { return String::new() };
    match by.who.as_str() {
        "agent" if by.session_id.is_empty() => one_line(&by.agent, 24),
        "agent" => format!("{} · {}", one_line(&by.agent, 24), one_line(&by.session_id, 12)),
        "outside" => "outside Tome".into(),
        who => who.to_owned(),
    }
}

fn line(version: &v1::NoteVersion) -> Value {
    let by = version.by.clone().unwrap_or_default();
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    json!({
        "number": version.number, "at": Millis(version.at_ms), "path": version.path,
        "op": version.op, "version": version.version, "size": version.bytes,
        "added": version.added, "removed": version.removed,
        "who": by.who, "agent": given(by.agent), "session_id": given(by.session_id), "tool": by.tool,
    })
}

/// Prints the text of a version; for a deleted note, its last version.
pub fn show(notes: &Notes<'_>, asked: &Version) -> Result<Outcome> {
    let note = match &asked.at {
        Some(wanted) => version(notes, &asked.path, wanted)?,
        None => last(notes, &asked.path)?,
    };
    if notes.context.json {
        notes.context.print_json(&as_json(&note))?;
    } else {
        print_text(&note.text)?;
    }
    Ok(Outcome::Done)
}

fn last(notes: &Notes<'_>, path: &str) -> Result<v1::GetVersionResponse> {
    let missing = match version(notes, path, "") {
        Err(error) if is_missing(&error) => error,
        found => return found,
    };
    // Without any history, the original error is more helpful.
    let Ok(log) = versions(notes, Some(path), 2) else { return Err(missing) };
    let kept = log.versions.iter().find(|version| version.version != DELETED);
    let Some(kept) = kept else { return Err(missing) };
    let restore = notes.hinted("restore", Some(path));
    writeln!(
        crate::terminal::stderr(),
        "{path} was deleted; this is its last version ({}), `{restore}` restores it",
        kept.version
    )?;
    version(notes, path, &kept.version)
}

pub fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == 4)
}

/// Adds a hint on how to restore a missing note, if it existed before.
pub fn or_deleted(notes: &Notes<'_>, path: &str, error: anyhow::Error) -> anyhow::Error {
    if !is_missing(&error) || versions(notes, Some(path), 1).is_err() {
        return error;
    }
    let restore = notes.hinted("restore", Some(path));
    let hint = format!("it was deleted; `{restore}` restores it");
    Refusal::not_found(error.to_string()).hint(hint).into()
}

pub fn restore(notes: &Notes<'_>, asked: &Version) -> Result<Outcome> {
    let before = match version(notes, &asked.path, "") {
        Ok(note) => Some(note.version),
        Err(error) if is_missing(&error) => None,
        Err(error) => return Err(error),
    };
    let request = v1::RestoreRequest {
        whose: Some(notes.whose()),
        path: asked.path.clone(),
        version: asked.at.clone().unwrap_or_default(),
        by: Some(notes.author()),
    };
    let done = notes.once(async |client| client.restore_note(request).await)?;
    if notes.context.json {
        notes.context.print_json(
            &json!({"path": done.path, "version": done.version, "size": done.bytes, "before": before}),
        )?;
        return Ok(Outcome::Done);
    }
    let mut out = crate::terminal::stdout();
    let path = &done.path;
    match before {
        Some(before) if before == done.version => {
            writeln!(out, "{path} is already at version {before}; nothing changed")?;
        }
        Some(before) => {
            let undo = format!("{} {before}", notes.hinted("restore", Some(path)));
            writeln!(out, "restored {path} to version {} ({})", done.version, bytes(done.bytes))?;
            writeln!(out, "  {DIM}undo: {undo}{PLAIN}")?;
        }
        None => {
            writeln!(out, "restored {path} at version {} ({})", done.version, bytes(done.bytes))?;
            writeln!(out, "  {DIM}undo: {}{PLAIN}", notes.hinted("delete", Some(path)))?;
        }
    }
    Ok(Outcome::Done)
}
