//! `tome memory log`, `show`, `restore`: the history of notes.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{
    Column, DIM, RESET, drop_columns, format_bytes, one_line, print_columns, truncate_start,
};

use super::{fetch_version, note_content_json};
use crate::cli::memory::{LogArgs, VersionArgs};
use crate::command::notebook_client::{NotebookCommands, print_text};
use crate::command::screen::Screen;
use crate::command::{CommandError, Outcome};

/// The limit for `-n 0`.
const NO_LIMIT: u32 = u32::MAX;

/// Columns that the path of a note gets before its author and its tool are listed, and at least.
const NOTE_COLUMNS: usize = 20;
const NOTE_COLUMNS_MIN: usize = 8;

/// Takes the place of the version for a deleted note.
pub const DELETED_VERSION: &str = "-";

pub fn print_log(notes: &NotebookCommands<'_>, args: &LogArgs) -> Result<Outcome> {
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
    let screen = Screen::new(notes.context);
    print_versions(&mut tome_terminal::stdout().lock(), &screen, &log)?;
    Ok(Outcome::Done)
}

/// Fetches the history, newest first. Fails for a path that never was a note.
pub fn fetch_versions(
    notes: &NotebookCommands<'_>,
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

fn print_versions(
    out: &mut dyn Write,
    screen: &Screen,
    log: &v1::GetLogResponse,
) -> std::io::Result<()> {
    let tool =
        |by: &Option<v1::Author>| by.as_ref().map(|by| one_line(&by.tool, 40)).unwrap_or_default();
    let versions = &log.versions;
    let columns = vec![
        Column::new("when", versions, |one| screen.when(one.at_ms)),
        Column::new("version", versions, |one| one.version.clone()),
        Column::new("what", versions, |one| one.op.clone()),
        Column::new("lines", versions, |one| format!("+{} −{}", one.added, one.removed)),
        Column::new("note", versions, |one| one_line(&one.path, 400)),
        Column::new("by", versions, |one| render_author(one.by.as_ref())),
        Column::new("with", versions, |one| tool(&one.by)),
    ];
    let width = screen.line_width();
    let mut columns =
        drop_columns(columns, ("note", NOTE_COLUMNS), &["with", "by", "lines"], width);
    // Only the path is cut: a version is typed.
    let rest: usize = columns.iter().filter(|it| it.head != "note").map(Column::width).sum();
    let room = width.saturating_sub(rest + 2).max(NOTE_COLUMNS_MIN);
    for column in columns.iter_mut().filter(|column| column.head == "note") {
        column.cells.iter_mut().for_each(|cell| *cell = truncate_start(cell, room));
    }
    print_columns(out, &columns, screen.width)?;
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
pub fn show_version(notes: &NotebookCommands<'_>, args: &VersionArgs) -> Result<Outcome> {
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

fn load_last_version(notes: &NotebookCommands<'_>, path: &str) -> Result<v1::GetVersionResponse> {
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
    notes: &NotebookCommands<'_>,
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

pub fn restore_version(notes: &NotebookCommands<'_>, args: &VersionArgs) -> Result<Outcome> {
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// 2026-11-15T09:30:00Z.
    const NOW: u64 = 1_794_735_000_000;

    fn log() -> v1::GetLogResponse {
        let version =
            |hours: u64, version: &str, op: &str, path: &str, by: v1::Author| v1::NoteVersion {
                at_ms: NOW - hours * 3_600_000,
                version: version.to_owned(),
                op: op.to_owned(),
                path: path.to_owned(),
                added: u32::try_from(hours).unwrap(),
                removed: 2,
                by: Some(by),
                ..v1::NoteVersion::default()
            };
        let person = v1::Author {
            who: "person".to_owned(),
            tool: "tome memory write".to_owned(),
            ..v1::Author::default()
        };
        let agent = v1::Author {
            who: "agent".to_owned(),
            agent: "claude-code".to_owned(),
            session_id: "419f42f0-2fa1".to_owned(),
            tool: "memory_append".to_owned(),
        };
        let versions = vec![
            version(2, "cac7ef8dc651", "created", "facts/user.md", person),
            version(500, "-", "deleted", "topics/decisions-about-the-lexer.md", agent),
        ];
        v1::GetLogResponse { versions, total: 3 }
    }

    fn shown(width: usize) -> String {
        let mut out = Vec::new();
        print_versions(&mut out, &Screen::for_test(NOW, width), &log()).unwrap();
        let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
        for line in text.lines() {
            assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
        }
        format!("at {width}:\n{text}")
    }

    #[test]
    fn the_log_fits_every_width_and_cuts_no_version() {
        expect![[r#"
            at 60:
              when     version       what     note
              2 h ago  cac7ef8dc651  created  facts/user.md
              Oct 25   -             deleted  …isions-about-the-lexer.md
              and 1 older; -n 0 shows all
        "#]]
        .assert_eq(&shown(60));
        expect![[r#"
            at 80:
              when     version       what     lines    note
              2 h ago  cac7ef8dc651  created  +2 −2    facts/user.md
              Oct 25   -             deleted  +500 −2  topics/decisions-about-the-lexer.md
              and 1 older; -n 0 shows all
        "#]]
        .assert_eq(&shown(80));
        expect![[r#"
            at 100:
              when     version       what     lines    note                           by
              2 h ago  cac7ef8dc651  created  +2 −2    facts/user.md                  person
              Oct 25   -             deleted  +500 −2  …decisions-about-the-lexer.md  claude-code · 419f42f0-2f…
              and 1 older; -n 0 shows all
        "#]].assert_eq(&shown(100));
        expect![[r#"
            at 160:
              when     version       what     lines    note                                 by                          with
              2 h ago  cac7ef8dc651  created  +2 −2    facts/user.md                        person                      tome memory write
              Oct 25   -             deleted  +500 −2  topics/decisions-about-the-lexer.md  claude-code · 419f42f0-2f…  memory_append
              and 1 older; -n 0 shows all
        "#]].assert_eq(&shown(160));
    }
}
