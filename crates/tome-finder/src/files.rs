//! Files that only the owner reads, written at a place and synced, and a folder that is replaced whole.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::FinderError;

/// The disk said no.
pub(crate) fn failed(path: &Path, error: &io::Error) -> FinderError {
    FinderError::Failed { path: path.to_owned(), problem: error.to_string() }
}

/// The files are not what they should be.
pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> FinderError {
    FinderError::Damaged { path: path.to_owned(), problem: problem.into() }
}

/// Makes an empty folder in place of whatever is there.
pub(crate) fn empty_folder(folder: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(folder) {
        Ok(there) if there.is_dir() => std::fs::remove_dir_all(folder)?,
        Ok(_) => std::fs::remove_file(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Options for a file that is written, and that only its owner reads.
pub(crate) fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes an empty file, or empties it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    own_file().read(true).create(true).truncate(true).open(path)
}

/// Opens a file that is there.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Reads as many bytes as there is room for.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(windows)]
    {
        let (mut bytes, mut at) = (bytes, at);
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    bytes = bytes.split_at_mut(read).1;
                    at += read as u64;
                }
            }
        }
        Ok(())
    }
}

/// Writes the bytes there and syncs them. Nothing to write: nothing is done.
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    #[cfg(unix)]
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)?;
    #[cfg(windows)]
    {
        let (mut bytes, mut at) = (bytes, at);
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
            bytes = bytes.split_at(written).1;
            at += written as u64;
        }
    }
    file.sync_data()
}

/// Puts a small file in place of another, or leaves that one.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!("{name}.new"));
    let file = create(&fresh)?;
    write_at(&file, bytes, 0)?;
    drop(file);
    std::fs::rename(&fresh, folder.join(name))?;
    sync_folder(folder)
}

/// What was made, renamed or removed in a folder stays so.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows has no such thing, and does not need it.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
