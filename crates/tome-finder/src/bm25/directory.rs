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

use super::file::{ChecksummedFile, FileChecksum, verify_trailer};
use crate::files::private_file_options;

/// Tantivy's list of managed files.
const MANAGED_FILES: &str = ".managed.json";

#[derive(Debug, Clone)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
    /// Used for locks and names only: reading through it would memory-map.
    tantivy_dir: MmapDirectory,
    unsynced: UnsyncedFiles,
    open_files: OpenFiles,
    closed: Arc<AtomicBool>,
}

/// Files written but not synced yet.
type UnsyncedFiles = Arc<Mutex<Vec<(PathBuf, File)>>>;

/// Files being read, shared by all readers.
type OpenFiles = Arc<Mutex<HashMap<PathBuf, Weak<ChecksummedFile>>>>;

impl PrivateDirectory {
    /// Opens an existing folder.
    pub(crate) fn open(path: &Path) -> tantivy::Result<Self> {
        let named = MmapDirectory::open(path)?;
        let (fresh, open, closed) =
            (UnsyncedFiles::default(), OpenFiles::default(), Arc::default());
        Ok(Self {
            path: path.to_owned(),
            tantivy_dir: named,
            unsynced: fresh,
            open_files: open,
            closed,
        })
    }

    /// Returns whether a file exists with the length that it had when opened.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        let there = std::fs::metadata(self.path.join(path));
        there.is_ok_and(|file| {
            file.is_file()
                && self.find_open_file(path).is_none_or(|known| known.has_disk_length(file.len()))
        })
    }

    fn find_open_file(&self, path: &Path) -> Option<Arc<ChecksummedFile>> {
        self.open_files.lock().unwrap_or_else(PoisonError::into_inner).get(path)?.upgrade()
    }

    /// Opens a file, or shares it if already open. Reads and verifies it without holding the lock.
    fn open_shared(&self, path: &Path) -> io::Result<Arc<ChecksummedFile>> {
        if let Some(known) = self.find_open_file(path) {
            return Ok(known);
        }
        let file = Arc::new(ChecksummedFile::open(&self.path.join(path))?);
        let mut open = self.open_files.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn sync_unsynced(&self) -> io::Result<()> {
        let fresh =
            std::mem::take(&mut *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner));
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
struct ChecksummedWriter {
    path: PathBuf,
    file: File,
    sum: FileChecksum,
    folder: PrivateDirectory,
}

impl Write for ChecksummedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_open(&self.folder.closed)?;
        let written = self.file.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for ChecksummedWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        check_open(&self.folder.closed)?;
        self.file.write_all(&self.sum.trailer())?;
        let file = self.file.try_clone()?;
        let mut fresh = self.folder.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.push((self.path.clone(), file));
        Ok(())
    }
}

impl Directory for PrivateDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.open_shared(path) {
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
        self.tantivy_dir.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.tantivy_dir.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let full = self.path.join(path);
        let created = check_open(&self.closed)
            .and_then(|()| private_file_options().create_new(true).open(&full));
        let file = created.map_err(|failed| {
            if failed.kind() == io::ErrorKind::AlreadyExists {
                OpenWriteError::FileAlreadyExists(path.to_owned())
            } else {
                OpenWriteError::wrap_io_error(failed, path.to_owned())
            }
        })?;
        let written = ChecksummedWriter {
            path: full,
            file,
            sum: FileChecksum::default(),
            folder: self.clone(),
        };
        Ok(BufWriter::new(Box::new(written)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let mut bytes = self.tantivy_dir.atomic_read(path)?;
        let body = verify_trailer(&bytes)
            .map_err(|failed| OpenReadError::wrap_io_error(failed, path.to_owned()))?;
        let length = body.len();
        bytes.truncate(length);
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        check_open(&self.closed)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        file.write_all(bytes)?;
        file.write_all(&FileChecksum::from_bytes(bytes).trailer())?;
        if path != Path::new(MANAGED_FILES) {
            self.sync_unsynced()?;
            file.as_file().sync_data()?;
        }
        file.persist(self.path.join(path)).map_err(|failed| failed.error)?;
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.tantivy_dir.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // This is an advisory lock on the file: a leftover file blocks nothing.
        private_file_options()
            .create(true)
            .truncate(false)
            .open(self.path.join(&lock.filepath))
            .map_err(LockError::wrap_io_error)?;
        self.tantivy_dir.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.tantivy_dir.watch(callback)
    }
}
