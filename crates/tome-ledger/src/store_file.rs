//! The files beside the engine's own: the lock, and the description of the store.
//!
//! ```text
//! STORE    # …a comment
//!          engine = "fjall"        or "rocksdb"
//!          format = 1
//! LOCK     empty; locked exclusively by the process that has the store open
//! ```
//!
//! `STORE` is written before the engine's files and never changed. An interrupted creation therefore
//! leaves either nothing or a `STORE`, and the next open continues from there.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::{LedgerError, StorageEngine};

/// The newest supported format.
pub(crate) const FORMAT: u32 = 1;

const STORE: &str = "STORE";
const LOCK: &str = "LOCK";

/// Whether a directory contains a store.
pub(crate) fn is_store(dir: &Path) -> bool {
    dir.join(STORE).exists()
}

/// Creates the directory, accessible by the owner only.
pub(crate) fn create_dir(dir: &Path) -> Result<(), LedgerError> {
    match std::fs::metadata(dir) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => {
            return Err(LedgerError::NotADirectory { path: dir.to_owned() });
        }
        Err(_) => {}
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(LedgerError::NotADirectory { path: dir.to_owned() })
        }
        created => created.map_err(LedgerError::io("create", dir)),
    }
}

/// The lock of a store, released when dropped.
pub(crate) struct StoreLock(File);

impl Drop for StoreLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started may still hold a
        // copy of the descriptor.
        let _ = self.0.unlock();
    }
}

pub(crate) fn lock_store(dir: &Path) -> Result<StoreLock, LedgerError> {
    let path = dir.join(LOCK);
    let file = owner_only(OpenOptions::new().create(true).write(true))
        .open(&path)
        .map_err(LedgerError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(StoreLock(file)),
        Err(TryLockError::WouldBlock) => Err(LedgerError::Locked { path: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(LedgerError::io("lock", &path)(error)),
    }
}

/// Reads the engine of a store; `None` if there is no store yet.
pub(crate) fn read_engine(dir: &Path) -> Result<Option<StorageEngine>, LedgerError> {
    let path = dir.join(STORE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Err(damaged_error(&path, "it is not text"));
        }
        Err(error) => return Err(LedgerError::io("read", &path)(error)),
    };
    // The format comes first, because a newer one may describe the rest differently.
    let format: u32 = find_field(&text, "format")
        .and_then(|format| format.parse().ok())
        .ok_or_else(|| damaged_error(&path, "it has no line `format = <number>`"))?;
    if format > FORMAT {
        return Err(LedgerError::NewerFormat {
            path: dir.to_owned(),
            found: format,
            known: FORMAT,
        });
    }
    let engine = find_field(&text, "engine")
        .and_then(|engine| engine.strip_prefix('"')?.strip_suffix('"'))
        .ok_or_else(|| damaged_error(&path, "it has no line `engine = \"<name>\"`"))?;
    match StorageEngine::from_name(engine) {
        Some(engine) if format == FORMAT => Ok(Some(engine)),
        Some(_) => Err(damaged_error(&path, "its format is unknown")),
        None => Err(damaged_error(&path, "its engine is neither fjall nor rocksdb")),
    }
}

/// Writes the description of a new store atomically.
pub(crate) fn write_description(dir: &Path, engine: StorageEngine) -> Result<(), LedgerError> {
    let text = format!(
        "# A ledger of Tome. This file says `engine = \"fjall\"` or `engine = \"rocksdb\"`, and `format = {FORMAT}`.\n\
         engine = \"{engine}\"\nformat = {FORMAT}\n"
    );
    let (path, new) = (dir.join(STORE), dir.join("STORE.new"));
    let written = owner_only(OpenOptions::new().create(true).truncate(true).write(true))
        .open(&new)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&new, &path))
        .and_then(|()| sync_dir(dir))
        .and_then(|()| dir.parent().map_or(Ok(()), sync_dir));
    written.map_err(LedgerError::io("write", &path))
}

/// Makes the entries of a directory survive power loss.
pub(crate) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        File::open(dir)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// Bytes allocated by everything below a directory, as `du` counts them: less than their length for
/// sparse files. Links are not followed.
pub fn disk_bytes(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => allocated_bytes(&found) + disk_bytes(&entry.path()),
        Ok(found) => allocated_bytes(&found),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn allocated_bytes(found: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::blocks(found) * 512;
    #[cfg(not(unix))]
    return found.len();
}

pub(crate) fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn find_field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == name).then(|| value.trim())
    })
}

fn damaged_error(path: &Path, problem: &str) -> LedgerError {
    LedgerError::DamagedFile { path: path.to_owned(), problem: problem.to_owned() }
}
