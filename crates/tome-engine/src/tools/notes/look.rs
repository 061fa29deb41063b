//! The tools that read notes; they change and create nothing.

use serde_json::{Value, json};
use tome_notebook::limits::{PROMPT_BYTES_MAX, PROMPT_LINES_MAX, READ_CHARS_MAX};
use tome_notebook::{Listed, Notebook};

use super::PATH;
use crate::tools::ToolAnswer;
use crate::tools::answer::{Refusal, bounded, first_chars};
use crate::tools::args::Args;
use crate::tools::call::{Call, with_near};

type Result<T> = std::result::Result<T, Refusal>;

/// Notes per listing; more would flood a model's context.
const LISTED_MAX: usize = 2_000;

/// Bytes shown of a name or a summary; files edited by hand may hold any amount.
const SUMMARY_BYTES_MAX: usize = 300;

pub(in crate::tools) fn list(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let whose = call.whose(args.scope()?);
    args.finish()?;
    let notes = call.open(&whose)?.list()?;
    let mut items: Vec<Value> = notes.iter().take(LISTED_MAX).map(item).collect();
    let more = notes.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        // In the form of the others, so that every reader sees it.
        items.push(json!({ "path": "", "summary": left_out(more), "size": 0 }));
    }
    Ok(ToolAnswer::json(items.into()))
}

fn item(note: &Listed) -> Value {
    json!({
        "path": note.path,
        "summary": bounded(&note.summary, SUMMARY_BYTES_MAX),
        "size": note.bytes,
    })
}

fn left_out(more: usize) -> String {
    format!("{more} more notes not listed")
}

pub(in crate::tools) fn view(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let target = args.text(&["target"])?;
    let whose = call.whose(args.scope()?);
    args.finish()?;
    match target.as_deref().unwrap_or("index") {
        "index" => view_index(&*call.open(&whose)?),
        "files" => view_files(&*call.open(&whose)?),
        other => {
            let other = bounded(other, 80);
            Err(Refusal::invalid(format!("unknown target {other:?}: use index or files")))
        }
    }
}

fn view_index(notebook: &Notebook) -> Result<ToolAnswer> {
    let prompt = notebook.prompt(PROMPT_LINES_MAX, PROMPT_BYTES_MAX)?;
    let json = json!({ "target": "index", "text": prompt.text, "left_out": prompt.left_out });
    Ok(ToolAnswer::said(prompt.text, json))
}

fn view_files(notebook: &Notebook) -> Result<ToolAnswer> {
    let notes = notebook.list()?;
    let shown: Vec<File> = notes.iter().take(LISTED_MAX).map(File::of).collect();
    let more = notes.len().saturating_sub(LISTED_MAX);
    let mut lines: Vec<String> = shown.iter().map(File::line).collect();
    if lines.is_empty() {
        lines.push("(no memory files yet)".to_owned());
    }
    if more > 0 {
        lines.push(format!("  … {}", left_out(more)));
    }
    let files: Vec<Value> = shown.iter().map(File::json).collect();
    let json = json!({ "target": "files", "files": files, "left_out": more });
    Ok(ToolAnswer::said(lines.join("\n"), json))
}

/// One line of `memory_view` with target `files`.
struct File<'n> {
    note: &'n Listed,
    about: &'static str,
    summary: String,
    updated: String,
}

impl<'n> File<'n> {
    fn of(note: &'n Listed) -> Self {
        let updated = match &note.updated {
            Some(updated) => bounded(updated, 40),
            None => note.modified.to_string().chars().take(10).collect(),
        };
        Self {
            note,
            about: match note.note_type {
                Some(note_type) => note_type.as_str(),
                None if note.kind == tome_notebook::NoteKind::Typed => "other",
                None => note.kind.as_str(),
            },
            summary: bounded(&note.summary, SUMMARY_BYTES_MAX),
            updated,
        }
    }

    fn line(&self) -> String {
        let Self { note, about, summary, updated } = self;
        format!("  {}  [{about}]  {summary}  (updated: {updated})", note.path)
    }

    fn json(&self) -> Value {
        json!({
            "path": self.note.path,
            "type": self.about,
            "name": bounded(&self.note.name, SUMMARY_BYTES_MAX),
            "summary": self.summary,
            "updated": self.updated,
            "size": self.note.bytes,
            "version": self.note.version,
        })
    }
}

pub(in crate::tools) fn read(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = args.need(PATH)?;
    let whose = call.whose(args.scope()?);
    args.finish()?;
    let notebook = call.open(&whose)?;
    let note = notebook.read(&path).map_err(|error| with_near(error, &notebook))?;
    let (shown, chars) = first_chars(&note.text, READ_CHARS_MAX);
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
    Ok(ToolAnswer::said(text, json))
}
