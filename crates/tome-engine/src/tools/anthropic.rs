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

use super::answer::{Refusal, bounded};
use super::args::Args;
use super::call::Call;
use super::{Failure, ToolAnswer};

use path::MemoryPath;

type Result<T> = std::result::Result<T, Refusal>;

pub(super) fn memory(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let command = args.need(&["command"])?;
    let run = match command.as_str() {
        "view" => view::view,
        "create" => change::create,
        "str_replace" => change::str_replace,
        "insert" => change::insert,
        "delete" => change::delete,
        "rename" => change::rename,
        other => {
            let other = bounded(other, 80);
            return Err(Refusal::invalid(format!(
                "unknown command {other:?}: use view, create, str_replace, insert, delete or rename"
            )));
        }
    };
    args.speak_of(&command);
    run(call, args)
}

enum Found {
    Note,
    Folder,
    Nothing,
}

/// Looks a path up among the notes, so that other files are never touched.
fn find(notebook: &Notebook, path: &MemoryPath) -> Result<Found> {
    if notebook.has_note(path.inner())? {
        Ok(Found::Note)
    } else if path.is_root() || notebook.has_folder(path.inner())? {
        Ok(Found::Folder)
    } else {
        Ok(Found::Nothing)
    }
}

fn whose(call: &Call<'_>) -> tome_home::Whose {
    call.whose((Scope::Project, None))
}

fn not_there(said: String) -> Refusal {
    Refusal::new(Failure::NotFound, said)
}
