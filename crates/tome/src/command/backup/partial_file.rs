//! The file of a backup while it is being written. If that is interrupted, the file stays, and the next
//! run continues it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tome_engine::backup::{BackupError, PartialBackup, read_partial};
use tome_terminal::progress_bar;

use super::CommandError;
use crate::platform;

/// The file may be finished by another process just before it is locked here.
const OPEN_TRIES_MAX: usize = 8;

/// Locked until it is dropped: two processes never write to one file.
pub struct PartialFile {
    pub path: PathBuf,
    pub file: File,
}

impl PartialFile {
    /// Opens the file and locks it; creates it if it is missing.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = super::parent_of(path);
        for _ in 0..OPEN_TRIES_MAX {
            let file =
                open_own(path).with_context(|| format!("cannot write in {}", folder.display()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(busy_error(path)),
                // Some network file systems have no locks.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", path.display()));
                }
            }
            // The file that is locked must be the one with this name: a backup that was finished
            // meanwhile is that file under its final name.
            if !platform::is_replaced(path, platform::open_file_id(&file)) {
                return Ok(Self { path: path.to_path_buf(), file });
            }
        }
        Err(busy_error(path))
    }

    /// Reads and verifies the part that can be kept.
    pub fn read_kept(&self) -> Result<Option<PartialBackup>> {
        let bytes = self.len()?;
        if bytes == 0 {
            return Ok(None);
        }
        let bar =
            progress_bar(Some(bytes), "{wide_bar} {percent}% of the interrupted backup checked");
        let kept = read_partial(bar.wrap_read(BufReader::new(&self.file)));
        bar.finish_and_clear();
        kept.map_err(|error| match error {
            BackupError::NotABackup | BackupError::Newer(_) => {
                let problem = format!("{}: {error}", self.path.display());
                CommandError::bad_input(problem)
                    .with_hint("move that file away, or choose another name for the backup")
                    .into()
            }
            error => anyhow::Error::from(error),
        })
    }

    /// Cuts the file to the given size, to write on from there.
    pub fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes)).map(drop)
    }

    pub fn len(&self) -> Result<u64> {
        let meta = self.file.metadata();
        Ok(meta.with_context(|| format!("cannot read {}", self.path.display()))?.len())
    }

    /// Removes the file while it is locked.
    pub fn remove(self) {
        // It is empty; the next run uses it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Opens a file of this user, or creates one. Links are not followed.
fn open_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        opened => return opened,
    }
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other(format!("{} is not a file", path.display())));
    }
    let file = options.open(path)?;
    if !platform::is_own_file(&file)? {
        return Err(io::Error::other(format!("{} belongs to another user", path.display())));
    }
    // Not every file system has permissions.
    let _ = platform::remove_other_permissions(path);
    Ok(file)
}

fn busy_error(path: &Path) -> anyhow::Error {
    let problem = format!("another backup is being written to {}", path.display());
    CommandError::failed(problem).with_hint("wait until it is done, or choose another name").into()
}
