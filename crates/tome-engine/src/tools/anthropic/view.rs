//! `view`: a folder two levels deep with sizes, or a note with line numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;
use tome_notebook::limits::READ_CHARS_MAX;
use tome_notebook::{Notebook, NotebookError};

use super::path::MemoryPath;
use super::{MemoryPathKind, Result, classify_path, not_found_error, project_notebook};
use crate::tools::ToolAnswer;
use crate::tools::answer::ToolError;
use crate::tools::args::ToolArgs;
use crate::tools::call::ToolInvocation;

/// Lines of a note that can be shown.
const LINES_MAX: usize = 999_999;

/// Levels of a folder that are shown.
const LEVELS: usize = 2;

/// Files and folders per listing.
const LISTED_MAX: usize = 1_000;

/// The index, listed among the notes although Tome builds it.
const INDEX: &str = "MEMORY.md";

pub(super) fn view(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = MemoryPath::parse(&args.require_text(&["path"])?)?;
    let range = args.take_range(&["view_range"])?;
    args.reject_unknown()?;
    let notebook = call.open_notebook(&project_notebook(call))?;
    match classify_path(&notebook, &path)? {
        MemoryPathKind::Note => view_note(&notebook, &path, range),
        MemoryPathKind::Missing if path.notebook_path() == INDEX => {
            view_note(&notebook, &path, range)
        }
        MemoryPathKind::Folder if range.is_some() => {
            Err(ToolError::invalid(format!("view_range is for files; {path} is a directory")))
        }
        MemoryPathKind::Folder => view_folder(&notebook, &path),
        MemoryPathKind::Missing => Err(not_found_error(format!(
            "The path {path} does not exist. Please provide a valid path."
        ))
        .without_prefix()),
    }
}

fn path_not_found(path: &MemoryPath) -> ToolError {
    not_found_error(format!("The path {path} does not exist. Please provide a valid path."))
        .without_prefix()
}

fn view_note(
    notebook: &Notebook,
    path: &MemoryPath,
    range: Option<(i64, i64)>,
) -> Result<ToolAnswer> {
    let note = notebook.read_note(path.notebook_path()).map_err(|error| match error {
        NotebookError::NotFound { .. } => path_not_found(path),
        error => error.into(),
    })?;
    let lines: Vec<&str> = note.text.lines().collect();
    if lines.len() > LINES_MAX {
        let message = format!("File {path} exceeds maximum line limit of 999,999 lines.");
        return Err(ToolError::invalid(message).without_prefix());
    }
    let (start, end) = line_bounds(range, lines.len())?;
    let shown = lines.get(start - 1..end).unwrap_or_default();
    let (numbered, count) = number_lines(start, shown, READ_CHARS_MAX);
    let mut text = format!("Here's the content of {path} with line numbers:\n{numbered}");
    if count < shown.len() {
        let last = start + count - 1;
        let _ = write!(
            text,
            "\n… (lines {start} to {last} of {}: use view_range for others)",
            lines.len()
        );
    }
    let json = json!({
        "path": path.to_string(),
        "result": text,
        "lines": lines.len(),
        "version": note.version,
    });
    Ok(ToolAnswer::from_text(text, json))
}

/// First and last line to show, from 1.
fn line_bounds(range: Option<(i64, i64)>, lines: usize) -> Result<(usize, usize)> {
    let Some((start, end)) = range else { return Ok((1, lines)) };
    let refuse = || {
        ToolError::invalid(format!(
            "Invalid `view_range` parameter: [{start}, {end}]. It should be [first, last] within [1, {lines}], or -1 for the last line"
        ))
    };
    let first = usize::try_from(start).ok().filter(|start| (1..=lines.max(1)).contains(start));
    let first = first.ok_or_else(refuse)?;
    let last = match end {
        -1 => lines,
        end => usize::try_from(end).map_err(|_| refuse())?.min(lines),
    };
    if last.saturating_add(1) < first || (end != -1 && end < start) {
        return Err(refuse());
    }
    Ok((first, last))
}

/// Numbers as many lines as fit and returns how many. A single overlong line is truncated.
pub(super) fn number_lines(first: usize, lines: &[&str], chars_max: usize) -> (String, usize) {
    let mut text = String::new();
    let mut left = chars_max;
    for (at, line) in lines.iter().enumerate() {
        let chars = line.chars().count() + 8;
        if chars > left && at > 0 {
            return (text, at);
        }
        if at > 0 {
            text.push('\n');
        }
        let number = first + at;
        let _ = write!(text, "{number:>6}\t");
        text.extend(line.chars().take(left));
        if chars > left {
            text.push('…');
            return (text, 1);
        }
        left -= chars;
    }
    (text, lines.len())
}

fn view_folder(notebook: &Notebook, path: &MemoryPath) -> Result<ToolAnswer> {
    let entries = collect_sizes(notebook, path)?;
    let mut lines: Vec<String> = entries
        .iter()
        .take(LISTED_MAX)
        .map(|(parts, bytes)| {
            let below: String = parts.iter().map(|part| format!("/{part}")).collect();
            format!("{}\t{path}{below}", render_size(*bytes))
        })
        .collect();
    let more = entries.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        lines.push(format!("… {more} more not listed: view a subdirectory"));
    }
    let text = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:\n{}",
        lines.join("\n")
    );
    let json = json!({ "path": path.to_string(), "result": text, "left_out": more });
    Ok(ToolAnswer::from_text(text, json))
}

/// Collects everything up to two levels below a folder by path components, with sizes. A folder is
/// as large as all its notes.
fn collect_sizes(notebook: &Notebook, folder: &MemoryPath) -> Result<BTreeMap<Vec<String>, u64>> {
    let mut sizes: Vec<(String, u64)> =
        notebook.list_notes()?.into_iter().map(|note| (note.path, note.bytes)).collect();
    if folder.is_root() && !sizes.is_empty() {
        sizes.push((INDEX.to_owned(), notebook.render_index()?.len() as u64));
    }
    let mut entries = BTreeMap::from([(Vec::new(), 0)]);
    for (path, bytes) in &sizes {
        let Some(below) = folder.strip_from(path) else { continue };
        let parts: Vec<String> = below.split('/').map(str::to_owned).collect();
        if parts.iter().any(|part| part == "node_modules") {
            continue;
        }
        for depth in 0..=parts.len().min(LEVELS) {
            *entries.entry(parts.iter().take(depth).cloned().collect()).or_default() += bytes;
        }
    }
    Ok(entries)
}

/// Renders a size: 320B, 5.5K, 1.2M.
fn render_size(bytes: u64) -> String {
    let mut left = bytes as f64;
    for unit in ["B", "K", "M"] {
        if left < 1024.0 {
            return if unit == "B" { format!("{bytes}B") } else { format!("{left:.1}{unit}") };
        }
        left /= 1024.0;
    }
    format!("{left:.1}G")
}
