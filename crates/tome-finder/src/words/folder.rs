//! The tantivy directory of an index, readable only by its owner.
//!
//! Files have mode 0600, the folder 0700, and each file ends with a checksum (`file.rs`). All files
//! of a commit are synced together, right before `meta.json`, which most file systems do in one go.
//! Tantivy's list of managed files (`.managed.json`) is not synced, because losing it loses
//! nothing. Locks and names are tantivy's.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

use super::file::{OwnFile, Sum, checked};
use crate::files::own_file;

/// Tantivy's list of managed files.
const FILES_LIST: &str = ".managed.json";

#[derive(Debug, Clone)]
pub(crate) struct OwnFolder {
    path: PathBuf,
    /// Used for locks and names only: reading through it would memory-map.
    named: MmapDirectory,
    fresh: Fresh,
    open: OpenFiles,
    closed: Arc<AtomicBool>,
}

/// Files written but not synced yet.
type Fresh = Arc<Mutex<Vec<(PathBuf, File)>>>;

/// Files being read, shared by all readers.
type OpenFiles = Arc<Mutex<HashMap<PathBuf, Weak<OwnFile>>>>;

impl OwnFolder {
    /// Opens an existing folder.
    pub(crate) fn open(path: &Path) -> tantivy::Result<Self> {
        let named = MmapDirectory::open(path)?;
        let (fresh, open, closed) = (Fresh::default(), OpenFiles::default(), Arc::default());
        Ok(Self { path: path.to_owned(), named, fresh, open, closed })
    }

    /// Returns whether a file exists with the length that it had when opened.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let there = std::fs::metadata(self.path.join(path));
        there.is_ok_and(|file| {
            file.is_file() && self.known(path).is_none_or(|known| known.is_as_long_as(file.len()))
        })
    }

    fn known(&self, path: &Path) -> Option<Arc<OwnFile>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(path)?.upgrade()
    }

    /// Opens a file, or shares it if already open. Reads and verifies it without holding the lock.
    fn opened(&self, path: &Path) -> io::Result<Arc<OwnFile>> {
        if let Some(known) = self.known(path) {
            return Ok(known);
        }
        let file = Arc::new(OwnFile::open(&self.path.join(path))?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, file| file.strong_count() > 0);
        open.insert(path.to_owned(), Arc::downgrade(&file));
        Ok(file)
    }

    /// Rejects all further writes. Tantivy's threads may still be running when another index takes
    /// over the folder.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Syncs the files written since the last sync that still exist.
    fn sync_fresh(&self) -> io::Result<()> {
        let fresh = std::mem::take(&mut *self.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        for (path, file) in fresh {
            if path.exists() {
                file.sync_data()?;
            }
        }
        Ok(())
    }
}

fn check_open(closed: &AtomicBool) -> io::Result<()> {
    if closed.load(Ordering::Acquire) {
        return Err(io::Error::other("the index was closed"));
    }
    Ok(())
}

/// A file that the next commit syncs.
struct Written {
    path: PathBuf,
    file: File,
    sum: Sum,
    folder: OwnFolder,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_open(&self.folder.closed)?;
        let written = self.file.write(bytes)?;
        self.sum.add(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        check_open(&self.folder.closed)?;
        self.file.write_all(&self.sum.ending())?;
        let file = self.file.try_clone()?;
        let mut fresh = self.folder.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.push((self.path.clone(), file));
        Ok(())
    }
}

impl Directory for OwnFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.opened(path) {
            Ok(file) => Ok(file),
            Err(failed) if failed.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(path.to_owned()))
            }
            Err(failed) => Err(OpenReadError::wrap_io_error(failed, path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        check_open(&self.closed).map_err(|failed| DeleteError::IoError {
            io_error: Arc::new(failed),
            filepath: path.to_owned(),
        })?;
        self.named.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.named.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let full = self.path.join(path);
        let made = check_open(&self.closed).and_then(|()| own_file().create_new(true).open(&full));
        let file = made.map_err(|failed| {
            if failed.kind() == io::ErrorKind::AlreadyExists {
                OpenWriteError::FileAlreadyExists(path.to_owned())
            } else {
                OpenWriteError::wrap_io_error(failed, path.to_owned())
            }
        })?;
        let written = Written { path: full, file, sum: Sum::default(), folder: self.clone() };
        Ok(BufWriter::new(Box::new(written)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let mut bytes = self.named.atomic_read(path)?;
        let body = checked(&bytes)
            .map_err(|failed| OpenReadError::wrap_io_error(failed, path.to_owned()))?;
        let length = body.len();
        bytes.truncate(length);
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        check_open(&self.closed)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        file.write_all(bytes)?;
        file.write_all(&Sum::of(bytes).ending())?;
        if path != Path::new(FILES_LIST) {
            self.sync_fresh()?;
            file.as_file().sync_data()?;
        }
        file.persist(self.path.join(path)).map_err(|failed| failed.error)?;
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.named.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // This is an advisory lock on the file: a leftover file blocks nothing.
        own_file()
            .create(true)
            .truncate(false)
            .open(self.path.join(&lock.filepath))
            .map_err(LockError::wrap_io_error)?;
        self.named.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.named.watch(callback)
    }
}
