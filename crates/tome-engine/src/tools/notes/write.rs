//! The tools that change a note. Each parses all arguments, redacts the texts, then acts once.

use tome_model::Scope;
use tome_notebook::limits::PATCHES_MAX;
use tome_notebook::{
    Author, NoteHeader, NoteType, Notebook, NotebookError, TextPatch, WrittenNote,
};

use super::{FILENAME_NAMES, PATH_NAMES};
use crate::tools::answer::{Result, ToolError, insert_field, truncate_bytes, written_json};
use crate::tools::args::ToolArgs;
use crate::tools::call::{ToolInvocation, with_suggestions};
use crate::tools::{ToolAnswer, ToolFailure};

const TYPE: &[&str] = &["type", "memory_type"];
const OLD: &[&str] = &["old_str", "old_text", "oldText"];
const NEW: &[&str] = &["new_str", "new_text", "newText"];

pub(in crate::tools) fn write(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let in_words = args.has("filename") || args.has("memory_type") || args.has("name");
    let path = call.check_new_path(args.require_text(PATH_NAMES)?)?;
    let content = args.require_text(&["content"])?;
    let typed = take_typed(args)?;
    let scope = args.take_scope()?;
    let if_version = args.take_text(&["if_version"])?;
    args.reject_unknown()?;
    if typed.is_some() {
        check_typed_allowed(scope.0, &path)?;
    }
    let typed = typed.map(|typed| NoteHeader {
        name: call.redact(typed.name),
        description: call.redact(typed.description),
        ..typed
    });
    let content = call.redact(content);
    let notebook = call.open_notebook(&call.notebook_of(scope))?;
    let by = call.author();
    let done = notebook
        .write_note(&by, &path, &content, typed.as_ref(), if_version.as_deref())
        .map_err(|error| with_suggestions(error, &notebook))?;
    Ok(if in_words {
        sentence_answer("Memory saved", &done)
    } else {
        ToolAnswer::from_json(written_json(&done))
    })
}

/// A sentence for a model, JSON for a program.
fn sentence_answer(what: &str, done: &WrittenNote) -> ToolAnswer {
    let text = format!("{what}: {}", done.path);
    let mut json = serde_json::json!({ "result": text });
    if let serde_json::Value::Object(fields) = written_json(done) {
        for (name, value) in fields {
            insert_field(&mut json, &name, value);
        }
    }
    ToolAnswer::from_text(text, json)
}

/// Takes the frontmatter of a typed note: all fields or none.
fn take_typed(args: &mut ToolArgs) -> Result<Option<NoteHeader>> {
    let name = args.take_text(&["name"])?;
    let description = args.take_text(&["description"])?;
    let note_type = args.take_text(TYPE)?;
    let (name, description, note_type) = match (name, description, note_type) {
        (None, None, None) => return Ok(None),
        (Some(name), Some(description), Some(note_type)) => (name, description, note_type),
        (name, description, note_type) => {
            let given = [name.is_some(), description.is_some(), note_type.is_some()];
            return Err(incomplete_type_error(given));
        }
    };
    let note_type = NoteType::parse(&note_type).ok_or_else(|| {
        let known = NoteType::ALL.map(NoteType::as_str).join(", ");
        let note_type = truncate_bytes(&note_type, 80);
        ToolError::invalid(format!("Invalid type '{note_type}'. Must be one of: {known}"))
    })?;
    Ok(Some(NoteHeader { name, description, note_type }))
}

fn incomplete_type_error(given: [bool; 3]) -> ToolError {
    let named = |want: bool| {
        let fields = ["name", "description", "type"].into_iter().zip(given);
        let fields: Vec<_> = fields.filter(|(_, is)| *is == want).map(|(name, _)| name).collect();
        fields.join(" and ")
    };
    ToolError::invalid(format!(
        "{} without {}: a typed note needs name, description and type, a plain one none of them",
        named(true),
        named(false)
    ))
}

/// Facts, episodes and the other notebooks have formats of their own.
fn check_typed_allowed(scope: Scope, path: &str) -> Result<()> {
    if scope != Scope::Project {
        return Err(ToolError::invalid(
            "name, description and type are only for project notes: omit them",
        ));
    }
    let folder = path.trim_start_matches("./").split_once('/').map(|(folder, _)| folder);
    match folder {
        Some(folder @ ("facts" | "episodes")) => Err(ToolError::invalid(format!(
            "{folder}/ has no typed notes: omit name, description and type, or use another folder"
        ))),
        _ => Ok(()),
    }
}

pub(in crate::tools) fn append(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let path = call.check_new_path(args.require_text(PATH_NAMES)?)?;
    let entry = args.require_text(&["entry"])?;
    let summary = args.take_text(&["summary"])?;
    let scope = args.take_scope()?;
    let if_version = args.take_text(&["if_version"])?;
    args.reject_unknown()?;
    let entry = call.redact(entry);
    let summary = summary.map(|summary| call.redact(summary));
    let notebook = call.open_notebook(&call.notebook_of(scope))?;
    let by = call.author();
    let done = notebook
        .append_entry(&by, &path, &entry, summary.as_deref(), if_version.as_deref())
        .map_err(|error| with_suggestions(error, &notebook))?;
    Ok(ToolAnswer::from_json(written_json(&done)))
}

pub(in crate::tools) fn patch(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let path = args.require_text(PATH_NAMES)?;
    let patches = take_patches(args)?;
    let scope = args.take_scope()?;
    let if_version = args.take_text(&["if_version"])?;
    args.reject_unknown()?;
    let patches = patches
        .into_iter()
        .map(|patch| TextPatch { new: call.redact(patch.new), ..patch })
        .collect();
    let notebook = call.open_notebook(&call.notebook_of(scope))?;
    let patches = redact_patches(call, &notebook, &path, patches);
    let done =
        apply_patches(call, &notebook, &call.author(), &path, patches, if_version.as_deref())
            .map_err(|error| with_suggestions(error, &notebook))?;
    let mut json = written_json(&done);
    insert_field(&mut json, "appliedCount", done.applied.into());
    Ok(ToolAnswer::from_json(json))
}

/// Takes the patches, from either form of arguments.
fn take_patches(args: &mut ToolArgs) -> Result<Vec<TextPatch>> {
    let several = args.take_objects(&["patches"], PATCHES_MAX)?;
    let old = args.take_text(OLD)?;
    let new = args.take_text(NEW)?;
    let patches = match (several, old, new) {
        (Some(several), None, None) => {
            several.into_iter().map(parse_patch).collect::<Result<_>>()?
        }
        (None, Some(old), Some(new)) => vec![TextPatch { old, new }],
        (None, Some(_), None) => return Err(args.missing_error(NEW)),
        (None, None, Some(_)) => return Err(args.missing_error(OLD)),
        (None, None, None) => {
            return Err(ToolError::invalid("memory_patch needs patches, or old_str and new_str"));
        }
        (Some(_), _, _) => {
            return Err(ToolError::invalid("give either patches or old_str and new_str, not both"));
        }
    };
    if patches.is_empty() {
        return Err(ToolError::invalid("patches is empty: pass at least one {oldText, newText}"));
    }
    if patches.iter().any(|patch| patch.old.is_empty()) {
        return Err(ToolError::invalid("the old text is empty: pass the text to replace"));
    }
    Ok(patches)
}

fn parse_patch(mut args: ToolArgs) -> Result<TextPatch> {
    let old = args.require_text(&["oldText", "old_text", "old_str"])?;
    let new = args.require_text(&["newText", "new_text", "new_str"])?;
    args.reject_unknown()?;
    Ok(TextPatch { old, new })
}

/// Extends patches so that they leave no secret formed together with the note's text. They are
/// computed on the current note; if it changes before it is patched, they no longer match.
fn redact_patches(
    call: &ToolInvocation<'_>,
    notebook: &Notebook,
    path: &str,
    patches: Vec<TextPatch>,
) -> Vec<TextPatch> {
    let Ok(note) = notebook.read_note(path) else { return patches };
    let mut text = note.text;
    let mut complete = |patch: TextPatch| {
        let patch = match call.redact_around(&text, &patch.old, &patch.new) {
            Some((old, new)) => TextPatch { old, new },
            None => patch,
        };
        text = text.replacen(&patch.old, &patch.new, 1);
        patch
    };
    patches.into_iter().map(&mut complete).collect()
}

/// Applies patches. An old text that is not found is retried redacted, because that is how Tome
/// stored it.
fn apply_patches(
    call: &ToolInvocation<'_>,
    notebook: &Notebook,
    by: &Author,
    path: &str,
    mut patches: Vec<TextPatch>,
    if_version: Option<&str>,
) -> std::result::Result<WrittenNote, NotebookError> {
    loop {
        let error = match notebook.patch_note(by, path, &patches, if_version) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let NotebookError::TextNotFound { patch, .. } = &error else { return Err(error) };
        // Terminates: each round redacts one more old text.
        let Some(missing) = patches.get_mut(*patch) else { return Err(error) };
        let Some(clean) = call.redact_if_secret(&missing.old) else { return Err(error) };
        missing.old = clean;
    }
}

pub(in crate::tools) fn update(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let path = args.require_text(FILENAME_NAMES)?;
    let old = args.require_text(&["old_text", "old_str", "oldText"])?;
    let new = args.require_text(&["new_text", "new_str", "newText"])?;
    let scope = args.take_scope()?;
    let if_version = args.take_text(&["if_version"])?;
    args.reject_unknown()?;
    if old.is_empty() {
        return Err(ToolError::invalid("old_text is empty: pass the text to replace"));
    }
    let new = call.redact(new);
    let notebook = call.open_notebook(&call.notebook_of(scope))?;
    let by = call.author();
    let update = |old: &str| {
        let patch = TextPatch { old: old.to_owned(), new: new.clone() };
        let patch =
            redact_patches(call, &notebook, &path, vec![patch.clone()]).pop().unwrap_or(patch);
        notebook.replace_first(&by, &path, &patch.old, &patch.new, if_version.as_deref())
    };
    let mut done = update(&old);
    if let Err(NotebookError::TextNotFound { .. }) = &done
        && let Some(clean) = call.redact_if_secret(&old)
    {
        done = update(&clean);
    }
    let done = done.map_err(|error| match error {
        NotebookError::TextNotFound { path, .. } => {
            ToolError::new(ToolFailure::NotFound, format!("Text not found in {path}"))
        }
        error => with_suggestions(error, &notebook),
    })?;
    Ok(sentence_answer("Memory updated", &done))
}

pub(in crate::tools) fn delete(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let path = args.require_text(FILENAME_NAMES)?;
    let scope = args.take_scope()?;
    args.reject_unknown()?;
    let notebook = call.open_notebook(&call.notebook_of(scope))?;
    let done = notebook.delete_note(&call.author(), &path).map_err(|error| match error {
        NotebookError::IndexReadOnly(_) => ToolError::invalid("Cannot delete the index file."),
        error => with_suggestions(error, &notebook),
    })?;
    Ok(sentence_answer("Memory deleted", &done))
}
