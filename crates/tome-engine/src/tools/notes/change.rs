//! The tools that change a note. Each parses all arguments, redacts the texts, then acts once.

use tome_model::Scope;
use tome_notebook::limits::PATCHES_MAX;
use tome_notebook::{Author, NoteType, Notebook, NotebookError, Patch, Typed, Written};

use super::{FILENAME, PATH};
use crate::tools::answer::{Refusal, bounded, put, written};
use crate::tools::args::Args;
use crate::tools::call::{Call, with_near};
use crate::tools::{Failure, ToolAnswer};

type Result<T> = std::result::Result<T, Refusal>;

const TYPE: &[&str] = &["type", "memory_type"];
const OLD: &[&str] = &["old_str", "old_text", "oldText"];
const NEW: &[&str] = &["new_str", "new_text", "newText"];

pub(in crate::tools) fn write(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let in_words = args.has("filename") || args.has("memory_type") || args.has("name");
    let path = call.new_path(args.need(PATH)?)?;
    let content = args.need(&["content"])?;
    let typed = typed(args)?;
    let scope = args.scope()?;
    let if_version = args.text(&["if_version"])?;
    args.finish()?;
    if typed.is_some() {
        fits_typed(scope.0, &path)?;
    }
    let typed = typed.map(|typed| Typed {
        name: call.cut(typed.name),
        description: call.cut(typed.description),
        ..typed
    });
    let content = call.cut(content);
    let notebook = call.open(&call.whose(scope))?;
    let by = call.author();
    let done = notebook
        .write(&by, &path, &content, typed.as_ref(), if_version.as_deref())
        .map_err(|error| with_near(error, &notebook))?;
    Ok(if in_words { said("Memory saved", &done) } else { ToolAnswer::json(written(&done)) })
}

/// A sentence for a model, JSON for a program.
fn said(what: &str, done: &Written) -> ToolAnswer {
    let text = format!("{what}: {}", done.path);
    let mut json = serde_json::json!({ "result": text });
    if let serde_json::Value::Object(fields) = written(done) {
        for (name, value) in fields {
            put(&mut json, &name, value);
        }
    }
    ToolAnswer::said(text, json)
}

/// Takes the frontmatter of a typed note: all fields or none.
fn typed(args: &mut Args) -> Result<Option<Typed>> {
    let name = args.text(&["name"])?;
    let description = args.text(&["description"])?;
    let note_type = args.text(TYPE)?;
    let (name, description, note_type) = match (name, description, note_type) {
        (None, None, None) => return Ok(None),
        (Some(name), Some(description), Some(note_type)) => (name, description, note_type),
        (name, description, note_type) => {
            let given = [name.is_some(), description.is_some(), note_type.is_some()];
            return Err(half_typed(given));
        }
    };
    let note_type = NoteType::named(&note_type).ok_or_else(|| {
        let known = NoteType::ALL.map(NoteType::as_str).join(", ");
        let note_type = bounded(&note_type, 80);
        Refusal::invalid(format!("Invalid type '{note_type}'. Must be one of: {known}"))
    })?;
    Ok(Some(Typed { name, description, note_type }))
}

fn half_typed(given: [bool; 3]) -> Refusal {
    let named = |want: bool| {
        let fields = ["name", "description", "type"].into_iter().zip(given);
        let fields: Vec<_> = fields.filter(|(_, is)| *is == want).map(|(name, _)| name).collect();
        fields.join(" and ")
    };
    Refusal::invalid(format!(
        "{} without {}: a typed note needs name, description and type, a plain one none of them",
        named(true),
        named(false)
    ))
}

/// Facts, episodes and the other notebooks have formats of their own.
fn fits_typed(scope: Scope, path: &str) -> Result<()> {
    if scope != Scope::Project {
        return Err(Refusal::invalid(
            "name, description and type are only for project notes: omit them",
        ));
    }
    let folder = path.trim_start_matches("./").split_once('/').map(|(folder, _)| folder);
    match folder {
        Some(folder @ ("facts" | "episodes")) => Err(Refusal::invalid(format!(
            "{folder}/ has no typed notes: omit name, description and type, or use another folder"
        ))),
        _ => Ok(()),
    }
}

pub(in crate::tools) fn append(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = call.new_path(args.need(PATH)?)?;
    let entry = args.need(&["entry"])?;
    let summary = args.text(&["summary"])?;
    let scope = args.scope()?;
    let if_version = args.text(&["if_version"])?;
    args.finish()?;
    let entry = call.cut(entry);
    let summary = summary.map(|summary| call.cut(summary));
    let notebook = call.open(&call.whose(scope))?;
    let by = call.author();
    let done = notebook
        .append(&by, &path, &entry, summary.as_deref(), if_version.as_deref())
        .map_err(|error| with_near(error, &notebook))?;
    Ok(ToolAnswer::json(written(&done)))
}

pub(in crate::tools) fn patch(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = args.need(PATH)?;
    let patches = patches(args)?;
    let scope = args.scope()?;
    let if_version = args.text(&["if_version"])?;
    args.finish()?;
    let patches =
        patches.into_iter().map(|patch| Patch { new: call.cut(patch.new), ..patch }).collect();
    let notebook = call.open(&call.whose(scope))?;
    let patches = completed(call, &notebook, &path, patches);
    let done = patched(call, &notebook, &call.author(), &path, patches, if_version.as_deref())
        .map_err(|error| with_near(error, &notebook))?;
    let mut json = written(&done);
    put(&mut json, "appliedCount", done.applied.into());
    Ok(ToolAnswer::json(json))
}

/// Takes the patches, from either form of arguments.
fn patches(args: &mut Args) -> Result<Vec<Patch>> {
    let several = args.objects(&["patches"], PATCHES_MAX)?;
    let old = args.text(OLD)?;
    let new = args.text(NEW)?;
    let patches = match (several, old, new) {
        (Some(several), None, None) => several.into_iter().map(one_patch).collect::<Result<_>>()?,
        (None, Some(old), Some(new)) => vec![Patch { old, new }],
        (None, Some(_), None) => return Err(args.missing(NEW)),
        (None, None, Some(_)) => return Err(args.missing(OLD)),
        (None, None, None) => {
            return Err(Refusal::invalid("memory_patch needs patches, or old_str and new_str"));
        }
        (Some(_), _, _) => {
            return Err(Refusal::invalid("give either patches or old_str and new_str, not both"));
        }
    };
    if patches.is_empty() {
        return Err(Refusal::invalid("patches is empty: pass at least one {oldText, newText}"));
    }
    if patches.iter().any(|patch| patch.old.is_empty()) {
        return Err(Refusal::invalid("the old text is empty: pass the text to replace"));
    }
    Ok(patches)
}

fn one_patch(mut args: Args) -> Result<Patch> {
    let old = args.need(&["oldText", "old_text", "old_str"])?;
    let new = args.need(&["newText", "new_text", "new_str"])?;
    args.finish()?;
    Ok(Patch { old, new })
}

/// Extends patches so that they leave no secret formed together with the note's text. They are
/// computed on the current note; if it changes before it is patched, they no longer match.
fn completed(call: &Call<'_>, notebook: &Notebook, path: &str, patches: Vec<Patch>) -> Vec<Patch> {
    let Ok(note) = notebook.read(path) else { return patches };
    let mut text = note.text;
    let mut complete = |patch: Patch| {
        let patch = match call.completed(&text, &patch.old, &patch.new) {
            Some((old, new)) => Patch { old, new },
            None => patch,
        };
        text = text.replacen(&patch.old, &patch.new, 1);
        patch
    };
    patches.into_iter().map(&mut complete).collect()
}

/// Applies patches. An old text that is not found is retried redacted, because that is how Tome
/// stored it.
fn patched(
    call: &Call<'_>,
    notebook: &Notebook,
    by: &Author,
    path: &str,
    mut patches: Vec<Patch>,
    if_version: Option<&str>,
) -> std::result::Result<Written, NotebookError> {
    loop {
        let error = match notebook.patch(by, path, &patches, if_version) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let NotebookError::TextNotFound { patch, .. } = &error else { return Err(error) };
        // Terminates: each round redacts one more old text.
        let Some(missing) = patches.get_mut(*patch) else { return Err(error) };
        let Some(clean) = call.without_secrets(&missing.old) else { return Err(error) };
        missing.old = clean;
    }
}

pub(in crate::tools) fn update(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = args.need(FILENAME)?;
    let old = args.need(&["old_text", "old_str", "oldText"])?;
    let new = args.need(&["new_text", "new_str", "newText"])?;
    let scope = args.scope()?;
    let if_version = args.text(&["if_version"])?;
    args.finish()?;
    if old.is_empty() {
        return Err(Refusal::invalid("old_text is empty: pass the text to replace"));
    }
    let new = call.cut(new);
    let notebook = call.open(&call.whose(scope))?;
    let by = call.author();
    let update = |old: &str| {
        let patch = Patch { old: old.to_owned(), new: new.clone() };
        let patch = completed(call, &notebook, &path, vec![patch.clone()]).pop().unwrap_or(patch);
        notebook.update(&by, &path, &patch.old, &patch.new, if_version.as_deref())
    };
    let mut done = update(&old);
    if let Err(NotebookError::TextNotFound { .. }) = &done
        && let Some(clean) = call.without_secrets(&old)
    {
        done = update(&clean);
    }
    let done = done.map_err(|error| match error {
        NotebookError::TextNotFound { path, .. } => {
            Refusal::new(Failure::NotFound, format!("Text not found in {path}"))
        }
        error => with_near(error, &notebook),
    })?;
    Ok(said("Memory updated", &done))
}

pub(in crate::tools) fn delete(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let path = args.need(FILENAME)?;
    let scope = args.scope()?;
    args.finish()?;
    let notebook = call.open(&call.whose(scope))?;
    let done = notebook.delete(&call.author(), &path).map_err(|error| match error {
        NotebookError::Reserved(_) => Refusal::invalid("Cannot delete the index file."),
        error => with_near(error, &notebook),
    })?;
    Ok(said("Memory deleted", &done))
}
