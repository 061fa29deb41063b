//! Atomic, durable writes of small files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::EngineError;

/// Replaces a file: writes a temporary file beside it, syncs, renames, syncs the folder.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)
        .map_err(EngineError::file("create a file in", folder))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(EngineError::file("write", path))?;
    file.persist(path).map_err(|failed| EngineError::file("write", path)(failed.error))?;
    sync_folder(folder).map_err(EngineError::file("sync", folder))
}

/// Makes a rename or a new name in a folder survive power loss. A no-op on Windows, where folders
/// cannot be opened and the file system journals renames.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
}
