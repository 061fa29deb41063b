//! Reads and replaces other programs' config files atomically.
//!
//! Symbolic links are followed, so that a linked config file stays a link. The file mode is kept.
//! Read-only files are not touched.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, read_regular, sync_folder};

/// Larger files are not config files.
const CONFIG_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum length of a chain of links.
const LINKS_MAX: usize = 32;

/// Returns the content of a file; `None` if it does not exist.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(meta) if meta.len() > CONFIG_BYTES_MAX => {
            Err(io::Error::other("too large for a config file"))
        }
        Ok(meta) if meta.is_dir() => Err(io::Error::other("it is a folder")),
        Ok(_) => read_regular(path, FinalLink::Follow, CONFIG_BYTES_MAX).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Fails if the file is read-only.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(meta) if meta.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"))
        }
        _ => Ok(()),
    }
}

/// Replaces or creates a file: writes and syncs a temporary file, renames it, syncs the folder.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    check_writable(path)?;
    let path = resolve_links(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".tome-").tempfile_in(folder)?;
    if let Ok(meta) = fs::metadata(&path) {
        file.as_file().set_permissions(meta.permissions())?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|failed| failed.error)?;
    sync_folder(folder)
}

/// Deletes a file; succeeds if it is already gone. A link to it stays, because Tome creates none.
pub fn delete(path: &Path) -> io::Result<()> {
    let path = resolve_links(path)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    path.parent().filter(|folder| folder.is_dir()).map_or(Ok(()), sync_folder)
}

/// Returns the parent folders of a path that do not exist yet, outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = folders.map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Follows links to the file a path stands for, which may not exist.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&path) {
            Ok(link) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                path = folder.join(link);
            }
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("the link is circular"))
}
