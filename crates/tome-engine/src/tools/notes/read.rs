//! The tools that read notes; they change and create nothing.

use serde_json::{Value, json};
use tome_notebook::limits::{PROMPT_BYTES_MAX, PROMPT_LINES_MAX, READ_CHARS_MAX};
use tome_notebook::{NoteListing, Notebook};

use super::PATH_NAMES;
use crate::tools::ToolAnswer;
use crate::tools::answer::{Result, ToolError, first_chars_and_count, truncate_bytes};
use crate::tools::args::ToolArgs;
use crate::tools::call::{ToolInvocation, with_suggestions};

/// Notes per listing; more would flood a model's context.
const LISTED_MAX: usize = 2_000;

/// Bytes shown of a name or a summary; files edited by hand may hold any amount.
const SUMMARY_BYTES_MAX: usize = 300;

pub(in crate::tools) fn list(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let whose = call.notebook_of(args.take_scope()?);
    args.reject_unknown()?;
    let notes = call.open_notebook(&whose)?.list_notes()?;
    let mut items: Vec<Value> = notes.iter().take(LISTED_MAX).map(note_json).collect();
    let more = notes.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        // In the form of the others, so that every reader sees it.
        items.push(json!({ "path": "", "summary": omitted_text(more), "size": 0 }));
    }
    Ok(ToolAnswer::from_json(items.into()))
}

fn note_json(note: &NoteListing) -> Value {
    json!({
        "path": note.path,
        "summary": truncate_bytes(&note.summary, SUMMARY_BYTES_MAX),
        "size": note.bytes,
    })
}

fn omitted_text(more: usize) -> String {
    format!("{more} more notes not listed")
}

pub(in crate::tools) fn view(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let target = args.take_text(&["target"])?;
    let whose = call.notebook_of(args.take_scope()?);
    args.reject_unknown()?;
    match target.as_deref().unwrap_or("index") {
        "index" => view_index(&*call.open_notebook(&whose)?),
        "files" => view_files(&*call.open_notebook(&whose)?),
        other => {
            let other = truncate_bytes(other, 80);
            Err(ToolError::invalid(format!("unknown target {other:?}: use index or files")))
        }
    }
}

fn view_index(notebook: &Notebook) -> Result<ToolAnswer> {
    let prompt = notebook.render_index_excerpt(PROMPT_LINES_MAX, PROMPT_BYTES_MAX)?;
    let json = json!({ "target": "index", "text": prompt.text, "left_out": prompt.omitted });
    Ok(ToolAnswer::from_text(prompt.text, json))
}

fn view_files(notebook: &Notebook) -> Result<ToolAnswer> {
    let notes = notebook.list_notes()?;
    let shown: Vec<NoteFile> = notes.iter().take(LISTED_MAX).map(NoteFile::new).collect();
    let more = notes.len().saturating_sub(LISTED_MAX);
    let mut lines: Vec<String> = shown.iter().map(NoteFile::render_line).collect();
    if lines.is_empty() {
        lines.push("(no memory files yet)".to_owned());
    }
    if more > 0 {
        lines.push(format!("  … {}", omitted_text(more)));
    }
    let files: Vec<Value> = shown.iter().map(NoteFile::to_json).collect();
    let json = json!({ "target": "files", "files": files, "left_out": more });
    Ok(ToolAnswer::from_text(lines.join("\n"), json))
}

/// One line of `memory_view` with target `files`.
struct NoteFile<'n> {
    note: &'n NoteListing,
    about: &'static str,
    summary: String,
    updated: String,
}

impl<'n> NoteFile<'n> {
    fn new(note: &'n NoteListing) -> Self {
        let updated = match &note.updated {
            Some(updated) => truncate_bytes(updated, 40),
            None => note.modified.to_string().chars().take(10).collect(),
        };
        Self {
            note,
            about: match note.note_type {
                Some(note_type) => note_type.as_str(),
                None if note.kind == tome_notebook::NoteKind::Other => "other",
                None => note.kind.as_str(),
            },
            summary: truncate_bytes(&note.summary, SUMMARY_BYTES_MAX),
            updated,
        }
    }

    fn render_line(&self) -> String {
        let Self { note, about, summary, updated } = self;
        format!("  {}  [{about}]  {summary}  (updated: {updated})", note.path)
    }

    fn to_json(&self) -> Value {
        json!({
            "path": self.note.path,
            "type": self.about,
            "name": truncate_bytes(&self.note.name, SUMMARY_BYTES_MAX),
            "summary": self.summary,
            "updated": self.updated,
            "size": self.note.bytes,
            "version": self.note.version,
        })
    }
}

pub(in crate::tools) fn read(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let path = args.require_text(PATH_NAMES)?;
    let whose = call.notebook_of(args.take_scope()?);
    args.reject_unknown()?;
    let notebook = call.open_notebook(&whose)?;
    let note = notebook.read_note(&path).map_err(|error| with_suggestions(error, &notebook))?;
    let (shown, chars) = first_chars_and_count(&note.text, READ_CHARS_MAX);
    let truncated = shown.len() < note.text.len();
    let text = if truncated {
        format!("{shown}\n… (first {READ_CHARS_MAX} of {chars} characters)")
    } else {
        shown.to_owned()
    };
    let json = json!({
        "path": note.path,
        "content": shown,
        "version": note.version,
        "truncated": truncated,
        "characters": chars,
    });
    Ok(ToolAnswer::from_text(text, json))
}
