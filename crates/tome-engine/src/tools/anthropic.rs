//! The memory tool that Anthropic's models are trained on (`memory_20250818`), over the project's
//! notebook: view, create, str_replace, insert, delete and rename below `/memories`.
//!
//! Uses the documented wording, errors included. Every change goes through the notebook, so all
//! rules for notes apply.

mod change;
mod path;
mod view;

use tome_model::Scope;
use tome_notebook::Notebook;

use super::answer::{Result, ToolError, truncate_bytes};
use super::args::ToolArgs;
use super::call::ToolInvocation;
use super::{ToolAnswer, ToolFailure};

use path::MemoryPath;

pub(super) fn memory(call: &ToolInvocation<'_>, args: &mut ToolArgs) -> Result<ToolAnswer> {
    let command = args.require_text(&["command"])?;
    let run = match command.as_str() {
        "view" => view::view,
        "create" => change::create,
        "str_replace" => change::str_replace,
        "insert" => change::insert,
        "delete" => change::delete,
        "rename" => change::rename,
        other => {
            let other = truncate_bytes(other, 80);
            return Err(ToolError::invalid(format!(
                "unknown command {other:?}: use view, create, str_replace, insert, delete or rename"
            )));
        }
    };
    args.set_subcommand(&command);
    run(call, args)
}

enum MemoryPathKind {
    Note,
    Folder,
    Missing,
}

/// Looks a path up among the notes, so that other files are never touched.
fn classify_path(notebook: &Notebook, path: &MemoryPath) -> Result<MemoryPathKind> {
    if notebook.has_note(path.notebook_path())? {
        Ok(MemoryPathKind::Note)
    } else if path.is_root() || notebook.has_folder(path.notebook_path())? {
        Ok(MemoryPathKind::Folder)
    } else {
        Ok(MemoryPathKind::Missing)
    }
}

fn project_notebook(call: &ToolInvocation<'_>) -> tome_home::NotebookOwner {
    call.notebook_of((Scope::Project, None))
}

fn not_found_error(message: String) -> ToolError {
    ToolError::new(ToolFailure::NotFound, message)
}
