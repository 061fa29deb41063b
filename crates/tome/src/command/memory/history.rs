//! `tome memory log`, `show`, `restore`: the history of notes.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{DIM, RESET, format_bytes, one_line, print_table};

use super::{fetch_version, note_content_json};
use crate::cli::notes::{LogArgs, VersionArgs};
use crate::command::notebook_client::{NotebookClient, print_text};
use crate::command::{CommandError, Outcome, time};

/// The limit for `-n 0`.
const NO_LIMIT: u32 = u32::MAX;

/// Takes the place of the version for a deleted note.
pub const DELETED_VERSION: &str = "-";

pub fn print_log(notes: &NotebookClient<'_>, args: &LogArgs) -> Result<Outcome> {
    let limit = if args.limit == 0 { NO_LIMIT } else { args.limit };
    let log = fetch_versions(notes, args.path.as_deref(), limit)?;
    if notes.context.json {
        log.versions
            .iter()
            .try_for_each(|version| notes.context.print_json(&version_json(version)))?;
        return Ok(Outcome::Done);
    }
    if log.versions.is_empty() {
        writeln!(tome_terminal::stderr(), "no notes have been written yet")?;
        return Ok(Outcome::Done);
    }
    print_versions(&log)?;
    Ok(Outcome::Done)
}

/// Fetches the history, newest first. Fails for a path that never was a note.
pub fn fetch_versions(
    notes: &NotebookClient<'_>,
    path: Option<&str>,
    limit: u32,
) -> Result<v1::GetLogResponse> {
    let request = v1::GetLogRequest {
        whose: Some(notes.notebook_ref()),
        path: path.unwrap_or_default().to_owned(),
        limit,
    };
    let log = notes.call_idempotent(async |client| client.get_note_log(request.clone()).await)?;
    match path {
        Some(path) if log.versions.is_empty() => {
            let refusal =
                CommandError::not_found(format!("there has never been a note {path} here"));
            Err(refusal.with_hint("`tome memory log` lists all notes that ever existed").into())
        }
        _ => Ok(log),
    }
}

fn print_versions(log: &v1::GetLogResponse) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let rows: Vec<Vec<String>> = log
        .versions
        .iter()
        .map(|version| {
            vec![
                time::format_local_time(Millis(version.at_ms)),
                version.version.clone(),
                format!("{} +{} −{}", version.op, version.added, version.removed),
                version.path.clone(),
                render_author(version.by.as_ref()),
                version.by.as_ref().map(|by| one_line(&by.tool, 40)).unwrap_or_default(),
            ]
        })
        .collect();
    print_table(&mut out, &["when", "version", "what", "note", "by", "with"], &rows)?;
    let more = log.total.saturating_sub(log.versions.len() as u64);
    if more > 0 {
        writeln!(out, "  {DIM}and {more} older; -n 0 shows all{RESET}")?;
    }
    Ok(())
}

/// Renders the author of a version.
pub fn render_author(by: Option<&v1::Author>) -> String {
    let Some(by) = by else { return String::new() };
    match by.who.as_str() {
        "agent" if by.session_id.is_empty() => one_line(&by.agent, 24),
        "agent" => format!("{} · {}", one_line(&by.agent, 24), one_line(&by.session_id, 12)),
        "outside" => "outside Tome".into(),
        who => who.to_owned(),
    }
}

fn version_json(version: &v1::NoteVersion) -> Value {
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
pub fn show_version(notes: &NotebookClient<'_>, args: &VersionArgs) -> Result<Outcome> {
    let note = match &args.at {
        Some(wanted) => fetch_version(notes, &args.path, wanted)?,
        None => load_last_version(notes, &args.path)?,
    };
    if notes.context.json {
        notes.context.print_json(&note_content_json(&note))?;
    } else {
        print_text(&note.text)?;
    }
    Ok(Outcome::Done)
}

fn load_last_version(notes: &NotebookClient<'_>, path: &str) -> Result<v1::GetVersionResponse> {
    let missing = match fetch_version(notes, path, "") {
        Err(error) if is_not_found(&error) => error,
        found => return found,
    };
    // Without any history, the original error is more helpful.
    let Ok(log) = fetch_versions(notes, Some(path), 2) else { return Err(missing) };
    let kept = log.versions.iter().find(|version| version.version != DELETED_VERSION);
    let Some(kept) = kept else { return Err(missing) };
    let restore = notes.hint_command("restore", Some(path));
    writeln!(
        tome_terminal::stderr(),
        "{path} was deleted; this is its last version ({}), `{restore}` restores it",
        kept.version
    )?;
    fetch_version(notes, path, &kept.version)
}

pub fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<CommandError>().is_some_and(|refusal| refusal.code == 4)
}

/// Adds a hint on how to restore a missing note, if it existed before.
pub fn with_restore_hint(
    notes: &NotebookClient<'_>,
    path: &str,
    error: anyhow::Error,
) -> anyhow::Error {
    if !is_not_found(&error) || fetch_versions(notes, Some(path), 1).is_err() {
        return error;
    }
    let restore = notes.hint_command("restore", Some(path));
    let hint = format!("it was deleted; `{restore}` restores it");
    CommandError::not_found(error.to_string()).with_hint(hint).into()
}

pub fn restore_version(notes: &NotebookClient<'_>, args: &VersionArgs) -> Result<Outcome> {
    let before = match fetch_version(notes, &args.path, "") {
        Ok(note) => Some(note.version),
        Err(error) if is_not_found(&error) => None,
        Err(error) => return Err(error),
    };
    let request = v1::RestoreRequest {
        whose: Some(notes.notebook_ref()),
        path: args.path.clone(),
        version: args.at.clone().unwrap_or_default(),
        by: Some(notes.author()),
    };
    let done = notes.call_once(async |client| client.restore_note(request).await)?;
    if notes.context.json {
        notes.context.print_json(
            &json!({"path": done.path, "version": done.version, "size": done.bytes, "before": before}),
        )?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout();
    let path = &done.path;
    match before {
        Some(before) if before == done.version => {
            writeln!(out, "{path} is already at version {before}; nothing changed")?;
        }
        Some(before) => {
            let undo = format!("{} {before}", notes.hint_command("restore", Some(path)));
            writeln!(
                out,
                "restored {path} to version {} ({})",
                done.version,
                format_bytes(done.bytes)
            )?;
            writeln!(out, "  {DIM}undo: {undo}{RESET}")?;
        }
        None => {
            writeln!(
                out,
                "restored {path} at version {} ({})",
                done.version,
                format_bytes(done.bytes)
            )?;
            writeln!(out, "  {DIM}undo: {}{RESET}", notes.hint_command("delete", Some(path)))?;
        }
    }
    Ok(Outcome::Done)
}
