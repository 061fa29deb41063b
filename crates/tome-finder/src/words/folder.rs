//! The folder of an index: memory-mapped, and for its owner only.
//!
//! Reading is tantivy's. Every file is made with mode 0600, the folder with 0700. The files of a
//! commit are synced together, right before the commit's `meta.json` is: most file systems then do
//! it in one go. The list of files that may be swept away (`.managed.json`) is not synced: nothing is
//! lost with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// What tantivy calls the list of its files.
const FILES_LIST: &str = ".managed.json";

/// A folder that only its owner reads.
#[derive(Debug, Clone)]
pub(crate) struct OwnFolder {
    path: PathBuf,
    mapped: MmapDirectory,
    fresh: Fresh,
    closed: Arc<AtomicBool>,
}

/// Files that are written and not synced yet.
type Fresh = Arc<Mutex<Vec<(PathBuf, File)>>>;

impl OwnFolder {
    /// A folder that is there.
    pub(crate) fn open(path: &Path) -> tantivy::Result<Self> {
        let mapped = MmapDirectory::open(path)?;
        Ok(Self { path: path.to_owned(), mapped, fresh: Fresh::default(), closed: Arc::default() })
    }

    /// Nothing is written from now on. Tantivy's threads may still be at work, on what is now another
    /// index's folder.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Syncs what was written since the last time, as far as it is still there.
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

/// Makes an empty folder, in place of whatever is there.
pub(crate) fn make_empty(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(failed) => Err(failed),
    };
    match removed {
        Err(failed) if failed.kind() != io::ErrorKind::NotFound => return Err(failed),
        _ => {}
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Options for a file that only its owner reads.
fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A file that is synced with the next commit.
struct Written {
    path: PathBuf,
    file: File,
    folder: OwnFolder,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_open(&self.folder.closed)?;
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let file = self.file.try_clone()?;
        let mut fresh = self.folder.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.push((self.path.clone(), file));
        Ok(())
    }
}

impl Directory for OwnFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        check_open(&self.closed).map_err(|failed| DeleteError::IoError {
            io_error: Arc::new(failed),
            filepath: path.to_owned(),
        })?;
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
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
        Ok(BufWriter::new(Box::new(Written { path: full, file, folder: self.clone() })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        check_open(&self.closed)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        file.write_all(bytes)?;
        if path != Path::new(FILES_LIST) {
            self.sync_fresh()?;
            file.as_file().sync_data()?;
        }
        file.persist(self.path.join(path)).map_err(|failed| failed.error)?;
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // The lock is the system's, on the file: one that was left behind holds nobody up.
        own_file()
            .create(true)
            .truncate(false)
            .open(self.path.join(&lock.filepath))
            .map_err(LockError::wrap_io_error)?;
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}
