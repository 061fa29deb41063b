//! The notebook inside a repository, `<root>/.memory`, which a team can commit. Tome writes nothing
//! else into a repository.

use std::path::{Path, PathBuf};

use tome_notebook::{Actor, Author, Notebook, NotebookError};

use crate::HomeError;
use crate::durable::sync_folder;

pub(crate) fn notebook_folder(root: &Path) -> PathBuf {
    root.join(".memory")
}

/// Returns the notebook in a repository, if there is one. A link is refused: notes would end up
/// where readers of the repository do not expect them.
pub(crate) fn find_folder(root: &Path) -> Result<Option<PathBuf>, HomeError> {
    let folder = notebook_folder(root);
    match std::fs::symlink_metadata(&folder) {
        Ok(found) if found.is_dir() => Ok(Some(folder)),
        Ok(found) => {
            let what = if found.is_symlink() { "a symbolic link" } else { "a file" };
            let what = format!("it is {what}, not a folder: make it a folder or remove it");
            Err(HomeError::file("use", &folder)(std::io::Error::other(what)))
        }
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(HomeError::file("read", &folder)(error)),
    }
}

fn is_not_found(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
}

/// Creates `.memory/` if it is missing. It belongs to the repository, so other users may read it.
/// Returns whether it was created.
pub(crate) fn create_folder(root: &Path) -> Result<bool, HomeError> {
    if find_folder(root)?.is_some() {
        return Ok(false);
    }
    let folder = notebook_folder(root);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(&folder).map_err(HomeError::file("create", &folder))?;
    sync_folder(root).map_err(HomeError::file("sync", root))?;
    Ok(true)
}

/// Moves one note: writes the new one before deleting the old one, so that one always exists.
/// Returns `false` if the note has to stay.
pub(crate) fn move_note(from: &Notebook, to: &Notebook, path: &str) -> Result<bool, HomeError> {
    let by = Author { who: Actor::Person, tool: "tome init --in-repo".to_owned() };
    match copy_note(from, to, &by, path) {
        Ok(true) => {}
        // A different note of that name exists, or people may write such a note and tools may not:
        // too large, not UTF-8, a name that some systems do not allow.
        Ok(false)
        | Err(
            NotebookError::Unreadable { .. }
            | NotebookError::Invalid(_)
            | NotebookError::BadPath { .. }
            | NotebookError::PathEscapes(_),
        ) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    from.delete_note(&by, path)?;
    Ok(true)
}

/// Copies a note. Returns whether both notebooks now have the same text under this path.
fn copy_note(
    from: &Notebook,
    to: &Notebook,
    by: &Author,
    path: &str,
) -> Result<bool, NotebookError> {
    let note = from.read_note(path)?;
    match to.create_note(by, path, &note.text) {
        Ok(_) => Ok(true),
        Err(NotebookError::AlreadyExists(_)) => Ok(to.read_note(path)?.text == note.text),
        Err(error) => Err(error),
    }
}
