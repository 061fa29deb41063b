//! Files readable only by their owner, with synced writes at an offset, and atomic replacement.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::FinderError;

pub(crate) fn io_failed(path: &Path, error: &io::Error) -> FinderError {
    FinderError::Failed { path: path.to_owned(), problem: error.to_string() }
}

pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> FinderError {
    FinderError::Damaged { path: path.to_owned(), problem: problem.into() }
}

/// Creates an empty folder, replacing an existing file or folder at that path.
pub(crate) fn recreate_folder(folder: &Path) -> io::Result<()> {
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

/// Options for writing a file that only its owner can read.
pub(crate) fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    private_file_options().read(true).create(true).truncate(true).open(path)
}

pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Fills `bytes` from offset `at`.
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

/// Writes the bytes at offset `at` and syncs them. Does nothing if there are none.
pub(crate) fn write_synced_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
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

/// Replaces a small file atomically.
pub(crate) fn replace_file(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!("{name}.new"));
    let file = create_file(&fresh)?;
    write_synced_at(&file, bytes, 0)?;
    drop(file);
    std::fs::rename(&fresh, folder.join(name))?;
    sync_folder(folder)
}

/// Makes created, renamed and removed files durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows neither offers nor needs this.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
