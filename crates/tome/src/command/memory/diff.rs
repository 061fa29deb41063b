//! `tome memory diff`: prints a unified diff of two versions of a note.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use similar::TextDiff;
use tome_terminal::{BOLD, DIM, GREEN, RED, RESET, replace_control_chars};

use super::fetch_version;
use super::history::{DELETED_VERSION, fetch_versions, is_not_found};
use crate::cli::memory::DiffArgs;
use crate::command::Outcome;
use crate::command::notebook_client::NotebookCommands;

/// Time limit for finding a minimal diff; after that an approximate one is good enough.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// One side of the diff. A missing note has an empty text.
struct DiffSide {
    version: String,
    text: String,
}

pub fn run(notes: &NotebookCommands<'_>, args: &DiffArgs) -> Result<Outcome> {
    let (from, to) = load_sides(notes, args)?;
    let diff = render_unified(&args.path, &from, &to);
    if notes.context.json {
        notes.context.print_json(
            &json!({"path": args.path, "from": from.version, "to": to.version, "diff": diff}),
        )?;
    } else if diff.is_empty() {
        writeln!(
            tome_terminal::stderr(),
            "{} is identical in versions {} and {}",
            args.path,
            from.version,
            to.version
        )?;
    } else {
        print_diff(&diff)?;
    }
    Ok(Outcome::Done)
}

fn load_sides(notes: &NotebookCommands<'_>, args: &DiffArgs) -> Result<(DiffSide, DiffSide)> {
    let path = &args.path;
    match (&args.from, &args.to) {
        (Some(from), Some(to)) => {
            Ok((load_version(notes, path, from)?, load_version(notes, path, to)?))
        }
        (Some(from), None) => Ok((load_version(notes, path, from)?, load_current(notes, path)?)),
        (None, _) => {
            let log = fetch_versions(notes, Some(path), 2)?.versions;
            let mut newest = log.iter().map(|found| found.version.as_str());
            let (to, from) = (
                newest.next().unwrap_or(DELETED_VERSION),
                newest.next().unwrap_or(DELETED_VERSION),
            );
            Ok((load_version(notes, path, from)?, load_version(notes, path, to)?))
        }
    }
}

fn load_version(notes: &NotebookCommands<'_>, path: &str, wanted: &str) -> Result<DiffSide> {
    if wanted == DELETED_VERSION {
        return Ok(DiffSide { version: DELETED_VERSION.into(), text: String::new() });
    }
    let note = fetch_version(notes, path, wanted)?;
    Ok(DiffSide { version: note.version, text: note.text })
}

/// The current note; an empty text if it does not exist.
fn load_current(notes: &NotebookCommands<'_>, path: &str) -> Result<DiffSide> {
    match fetch_version(notes, path, "") {
        Ok(note) => Ok(DiffSide { version: note.version, text: note.text }),
        Err(error) if is_not_found(&error) => load_version(notes, path, DELETED_VERSION),
        Err(error) => Err(error),
    }
}

fn render_unified(path: &str, from: &DiffSide, to: &DiffSide) -> String {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(&*from.text, &*to.text);
    let head = |side: &DiffSide| match side.version.as_str() {
        DELETED_VERSION => "nothing".to_owned(),
        version => format!("{path} {version}"),
    };
    diff.unified_diff().context_radius(CONTEXT_LINES).header(&head(from), &head(to)).to_string()
}

fn print_diff(diff: &str) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for line in diff.lines() {
        let color = match line.chars().next() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => BOLD,
            Some('+') => GREEN,
            Some('-') => RED,
            Some('@' | '\\') => DIM,
            _ => RESET,
        };
        writeln!(out, "{color}{}{RESET}", replace_control_chars(line))?;
    }
    Ok(())
}
