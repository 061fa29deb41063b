//! Moves and removes the folder of an index. A process that is killed meanwhile leaves a complete index
//! or none.

use std::path::Path;

use super::VectorIndex;
use super::head::HEAD;
use crate::FinderError;
use crate::files::{io_failed, sync_folder};

impl VectorIndex {
    /// Moves an index that nobody writes to. Nothing may be at the new path.
    pub fn relocate(folder: &Path, to: &Path) -> Result<(), FinderError> {
        std::fs::rename(folder, to).map_err(|error| io_failed(to, &error))?;
        sync_parent(to)
    }

    /// Removes an index, its head first: without it the other files are no index.
    pub fn remove(folder: &Path) -> Result<(), FinderError> {
        let head = folder.join(HEAD);
        let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        match std::fs::remove_file(&head) {
            Ok(()) => sync_folder(folder).map_err(|error| io_failed(folder, &error))?,
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(io_failed(&head, &error)),
        }
        match std::fs::remove_dir_all(folder) {
            Err(error) if !is_missing(&error) => Err(io_failed(folder, &error)),
            _ => sync_parent(folder),
        }
    }
}

fn sync_parent(path: &Path) -> Result<(), FinderError> {
    match path.parent().filter(|parent| parent.is_dir()) {
        Some(parent) => sync_folder(parent).map_err(|error| io_failed(parent, &error)),
        None => Ok(()),
    }
}
