//! Reads OpenCode's store: a database, or a folder of JSON files in older versions.
//!
//! The database belongs to another program and may be in use. Nothing in its folder is changed:
//!
//! - without a write-ahead log (`-wal`) it is opened as immutable, with no lock and no new file; if
//!   it changes meanwhile, it is read again;
//! - with a log and its index (`-shm`), both are opened read-only, and SQLite writes neither;
//! - with a log but no index (a crash, a copied folder), SQLite would create the index, so database
//!   and log are copied to a temporary folder first.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tome_home::{FinalLink, open_regular, read_regular};
use tome_model::SessionId;

use super::sources::TranscriptSource;
use super::{RecordSink, transcript_origin};
use crate::agents::transcript::OpenCodeSession;
use crate::agents::transcript_record::{RecordOutcome, RecordOutcomes, RecordSkipReason};

/// Attempts to read a database that changes meanwhile.
const READ_ATTEMPTS: usize = 3;

/// Larger JSON files of the old folder are rejected.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A message and the parts read so far.
struct PendingMessage {
    id: String,
    info: Map<String, Value>,
    parts: Vec<Value>,
}

pub fn read_database(
    source: &TranscriptSource,
    only: Option<&str>,
    seen: &mut HashSet<String>,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    for attempt in 1..=READ_ATTEMPTS {
        let before = file_state(&source.path);
        let (connection, _copy) = open_database(&source.path)?;
        let result = read_sessions(&connection, source, only, seen, sink);
        drop(connection);
        match result {
            Ok(()) => break,
            // Opened as immutable, but it changed.
            Err(_) if attempt < READ_ATTEMPTS && file_state(&source.path) != before => {}
            Err(error) => return Err(error),
        }
    }
    sink.add_bytes_read(source.bytes);
    Ok(())
}

/// Returns the sizes and modification times, to detect writes.
fn file_state(path: &Path) -> Vec<Option<(u64, std::time::SystemTime)>> {
    let about = |path: PathBuf| {
        let about = fs::metadata(path).ok()?;
        Some((about.len(), about.modified().ok()?))
    };
    vec![about(path.to_path_buf()), about(sibling_file(path, "-wal"))]
}

fn sibling_file(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens a database without changing its folder. The temporary copy, if any, must outlive the
/// connection.
fn open_database(path: &Path) -> Result<(Connection, Option<TempDir>)> {
    // SQLite opens any kind of file, and a named pipe would block it.
    for name in [path.to_path_buf(), sibling_file(path, "-wal"), sibling_file(path, "-shm")] {
        if fs::metadata(&name).is_ok_and(|about| !about.is_file()) {
            bail!("{} is not a regular file", name.display());
        }
    }
    let log = fs::metadata(sibling_file(path, "-wal")).map_or(0, |about| about.len());
    if log == 0 {
        return Ok((connect(path, "mode=ro&immutable=1")?, None));
    }
    if sibling_file(path, "-shm").is_file()
        && let Ok(connection) = connect(path, "mode=ro&readonly_shm=1")
    {
        return Ok((connection, None));
    }
    let (copy, folder) = copy_database(path)?;
    Ok((connect(&copy, "mode=rw")?, Some(folder)))
}

fn connect(path: &Path, how: &str) -> Result<Connection> {
    let mut name = String::from("file:");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' => name.push_str(&format!("%{byte:02x}")),
            byte if byte.is_ascii() => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02x}")),
        }
    }
    let flags = if how.contains("mode=ro") {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{name}?{how}"), flags)?;
    // Opening alone reads nothing; this query fails on a bad file.
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Copies database and log to a temporary folder, again if they change meanwhile.
fn copy_database(path: &Path) -> Result<(PathBuf, TempDir)> {
    let folder = tempfile::Builder::new().prefix("tome-import").tempdir()?;
    let copy = folder.path().join("copy.db");
    for _ in 0..READ_ATTEMPTS {
        let before = file_state(path);
        copy_file(path, &copy)?;
        copy_file(&sibling_file(path, "-wal"), &sibling_file(&copy, "-wal"))?;
        if file_state(path) == before {
            return Ok((copy, folder));
        }
    }
    bail!("the database is constantly being written to; try again later")
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut from = open_regular(from, FinalLink::Follow)?;
    let mut to = File::create(to)?;
    std::io::copy(&mut from, &mut to)?;
    Ok(())
}

fn read_sessions(
    database: &Connection,
    source: &TranscriptSource,
    only: Option<&str>,
    seen: &mut HashSet<String>,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    let columns = table_columns(database, "session")?;
    for needed in ["id", "directory"] {
        if !columns.contains(needed) {
            bail!("table session has no column {needed}: unsupported version of OpenCode");
        }
    }
    for (table, needed) in [("message", "session_id"), ("part", "message_id")] {
        if !table_columns(database, table)?.contains(needed) {
            bail!("no table {table} with a column {needed}: unsupported version of OpenCode");
        }
    }
    let column = |name: &str| if columns.contains(name) { name.to_owned() } else { "NULL".into() };
    let wanted = ["parent_id", "title", "version", "time_created"].map(column).join(", ");
    let order = column("time_created");
    let sql = format!("SELECT id, directory, {wanted} FROM session ORDER BY {order}, id");
    let mut statement = database.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let info = session_info(row)?;
        let id = info.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if only.is_none_or(|only| only == id) {
            read_session(database, source, &id, info, sink)?;
        }
        seen.insert(id);
    }
    Ok(())
}

fn table_columns(database: &Connection, table: &str) -> Result<HashSet<String>> {
    let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn session_info(row: &Row<'_>) -> Result<Map<String, Value>> {
    let text = |column: usize| -> Result<Value> {
        Ok(row.get::<_, Option<String>>(column)?.map_or(Value::Null, Value::String))
    };
    let created: Option<i64> = row.get(5)?;
    let info = json!({
        "id": text(0)?, "directory": text(1)?, "parentID": text(2)?, "title": text(3)?,
        "version": text(4)?, "time": {"created": created},
    });
    match info {
        Value::Object(info) => Ok(info),
        _ => Ok(Map::new()),
    }
}

fn read_session(
    database: &Connection,
    source: &TranscriptSource,
    id: &str,
    info: Map<String, Value>,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    let origin = transcript_origin(source);
    let mut steps = RecordOutcomes::new();
    let mut session = OpenCodeSession::new(&origin, info, &mut steps);
    let mut statement = database.prepare_cached(
        "SELECT m.id, m.data, p.id, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id \
         WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, p.id",
    )?;
    let mut rows = statement.query([id])?;
    let mut pending: Option<PendingMessage> = None;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if pending.as_ref().is_none_or(|pending| pending.id != message) {
            finish_message(&mut session, pending.take(), &mut steps);
            flush_outcomes(&mut steps, sink)?;
            let Some(info) = parse_object(row.get_ref(1)?.as_bytes_or_null()?) else {
                sink.report_damage(0, format!("message {message} is not JSON"));
                continue;
            };
            pending = Some(PendingMessage { id: message, info, parts: Vec::new() });
        }
        let Some(part) = row.get::<_, Option<String>>(2)? else { continue };
        match (parse_object(row.get_ref(3)?.as_bytes_or_null()?), &mut pending) {
            (Some(mut found), Some(pending)) => {
                found.insert("id".to_owned(), part.into());
                pending.parts.push(Value::Object(found));
            }
            (None, _) => sink.report_damage(0, format!("part {part} is not JSON")),
            _ => {}
        }
    }
    finish_message(&mut session, pending, &mut steps);
    flush_outcomes(&mut steps, sink)
}

fn parse_object(bytes: Option<&[u8]>) -> Option<Map<String, Value>> {
    serde_json::from_slice(bytes.unwrap_or_default()).ok()
}

fn finish_message(
    session: &mut OpenCodeSession,
    pending: Option<PendingMessage>,
    steps: &mut RecordOutcomes,
) {
    if let Some(PendingMessage { id, info, parts }) = pending {
        session.read_message(&id, info, parts, steps);
    }
}

fn flush_outcomes(steps: &mut RecordOutcomes, sink: &mut dyn RecordSink) -> Result<()> {
    steps.drain(..).try_for_each(|step| sink.accept(step, 0))
}

/// Reads the old folder: `session/<project>/<session>.json`, `message/<session>/<message>.json`,
/// `part/<message>/<part>.json`. Sessions that the database has are skipped.
pub fn read_storage(
    source: &TranscriptSource,
    seen: &HashSet<String>,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    let root = &source.path;
    for project in sorted_entries(&root.join("session")) {
        for file in sorted_entries(&project) {
            let Some(info) = read_json_file(&file, sink) else { continue };
            let id = info.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            // The id becomes part of paths below.
            if SessionId::parse(&id).is_err() || !is_safe_file_name(&id) {
                sink.report_damage(0, format!("{} has no valid session id", file.display()));
            } else if seen.contains(&id) {
                sink.accept(RecordOutcome::Skipped(RecordSkipReason::Copied), 0)?;
            } else {
                read_stored_session(source, root, &id, info, sink)?;
            }
        }
    }
    Ok(())
}

fn read_stored_session(
    source: &TranscriptSource,
    root: &Path,
    id: &str,
    info: Map<String, Value>,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    let origin = transcript_origin(source);
    let mut steps = RecordOutcomes::new();
    let mut session = OpenCodeSession::new(&origin, info, &mut steps);
    flush_outcomes(&mut steps, sink)?;
    let mut messages: Vec<(u64, String, Map<String, Value>)> = Vec::new();
    for file in sorted_entries(&root.join("message").join(id)) {
        let Some(info) = read_json_file(&file, sink) else { continue };
        let created = info.get("time").and_then(|time| time.get("created")?.as_u64());
        let name = info.get("id").and_then(Value::as_str).map(str::to_owned);
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = name.filter(|name| is_safe_file_name(name)).or(stem).unwrap_or_default();
        messages.push((created.unwrap_or_default(), name, info));
    }
    messages.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    for (_, name, info) in messages {
        let mut parts = Vec::new();
        for file in sorted_entries(&root.join("part").join(&name)) {
            parts.extend(read_json_file(&file, sink).map(Value::Object));
        }
        session.read_message(&name, info, parts, &mut steps);
        flush_outcomes(&mut steps, sink)?;
    }
    Ok(())
}

fn is_safe_file_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Returns the entries of a folder, sorted by name.
fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read_json_file(path: &Path, sink: &mut dyn RecordSink) -> Option<Map<String, Value>> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if path.extension().is_none_or(|end| end != "json") {
        return None;
    }
    let read = match about.len() {
        0..=FILE_BYTES_MAX => {
            read_regular(path, FinalLink::Follow, FILE_BYTES_MAX).context("cannot be read")
        }
        _ => Err(anyhow::anyhow!("too large for a message")),
    };
    let record = read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    match record {
        Ok(record) => Some(record),
        Err(reason) => {
            sink.report_damage(0, format!("{}: {reason:#}", path.display()));
            None
        }
    }
}
