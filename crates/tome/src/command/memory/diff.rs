//! `tome memory diff`: prints a unified diff of two versions of a note.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use similar::TextDiff;

use super::history::{DELETED, is_missing, versions};
use super::version;
use crate::cli::notes::Diff;
use crate::command::Outcome;
use crate::command::notes::Notes;
use crate::render::{BOLD, DIM, GREEN, PLAIN, RED, safe};

/// Time limit for finding a minimal diff; after that an approximate one is good enough.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// One side of the diff. A missing note has an empty text.
struct Side {
    version: String,
    text: String,
}

pub fn run(notes: &Notes<'_>, asked: &Diff) -> Result<Outcome> {
    let (from, to) = sides(notes, asked)?;
    let diff = unified(&asked.path, &from, &to);
    if notes.context.json {
        notes.context.print_json(
            &json!({"path": asked.path, "from": from.version, "to": to.version, "diff": diff}),
        )?;
    } else if diff.is_empty() {
        writeln!(
            crate::terminal::stderr(),
            "{} is identical in versions {} and {}",
            asked.path,
            from.version,
            to.version
        )?;
    } else {
        print(&diff)?;
    }
    Ok(Outcome::Done)
}

fn sides(notes: &Notes<'_>, asked: &Diff) -> Result<(Side, Side)> {
    let path = &asked.path;
    match (&asked.from, &asked.to) {
        (Some(from), Some(to)) => Ok((at(notes, path, from)?, at(notes, path, to)?)),
        (Some(from), None) => Ok((at(notes, path, from)?, now(notes, path)?)),
        (None, _) => {
            let log = versions(notes, Some(path), 2)?.versions;
            let mut newest = log.iter().map(|found| found.version.as_str());
            let (to, from) = (newest.next().unwrap_or(DELETED), newest.next().unwrap_or(DELETED));
            Ok((at(notes, path, from)?, at(notes, path, to)?))
        }
    }
}

fn at(notes: &Notes<'_>, path: &str, wanted: &str) -> Result<Side> {
    if wanted == DELETED {
        return Ok(Side { version: DELETED.into(), text: String::new() });
    }
    let note = version(notes, path, wanted)?;
    Ok(Side { version: note.version, text: note.text })
}

/// The current note; an empty text if it does not exist.
fn now(notes: &Notes<'_>, path: &str) -> Result<Side> {
    match version(notes, path, "") {
        Ok(note) => Ok(Side { version: note.version, text: note.text }),
        Err(error) if is_missing(&error) => at(notes, path, DELETED),
        Err(error) => Err(error),
    }
}

fn unified(path: &str, from: &Side, to: &Side) -> String {
    let diff = TextDiff::configure().timeout(LOOK_TIMEOUT).diff_lines(&*from.text, &*to.text);
    let head = |side: &Side| match side.version.as_str() {
        DELETED => "nothing".to_owned(),
        version => format!("{path} {version}"),
    };
    diff.unified_diff().context_radius(CONTEXT_LINES).header(&head(from), &head(to)).to_string()
}

fn print(diff: &str) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    for line in diff.lines() {
        let colour = match line.chars().next() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => BOLD,
            Some('+') => GREEN,
            Some('-') => RED,
            Some('@' | '\\') => DIM,
            _ => PLAIN,
        };
        writeln!(out, "{colour}{}{PLAIN}", safe(line))?;
    }
    Ok(())
}
