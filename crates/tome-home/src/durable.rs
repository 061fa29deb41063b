//! Atomic, durable writes of small files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::HomeError;

/// Replaces a file: writes a temporary file beside it, syncs, renames, syncs the folder.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), HomeError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)
        .map_err(HomeError::file("create a file in", folder))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(HomeError::file("write", path))?;
    file.persist(path).map_err(|failed| HomeError::file("write", path)(failed.error))?;
    sync_folder(folder).map_err(HomeError::file("sync", folder))
}

/// Makes a rename or a new name in a folder survive power loss. Folders cannot be opened on
/// Windows, where the file system's journal does it.
pub fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
}
