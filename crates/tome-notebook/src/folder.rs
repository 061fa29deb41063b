//! File access beneath the notebook's folder, and nowhere else.
//!
//! Every name is resolved relative to the open folder (cap-std), so no symbolic link leads out, not
//! even one that appears during the operation. Links inside are not followed either: a note is a
//! regular file in regular folders. New content is written to a hidden temporary file beside the
//! target, synced, and renamed over it.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};

use crate::file_stamp::{FileStamp, identity, identity_std};
use crate::limits::{ENTRIES_MAX, FOLDERS_MAX, KEPT_BYTES_MAX};
use crate::path::NotePath;
use crate::{NotebookError, Result};

/// Name prefix of temporary files.
const TEMPORARY_PREFIX: &str = ".tome-";

pub(crate) struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// A temporary file waiting to be renamed into place; deleted on drop.
pub(crate) struct StagedFile<'f> {
    folder: &'f Folder,
    temporary: String,
    path: String,
    is_in_place: bool,
}

/// Whether a file must survive power loss or can be rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileDurability {
    Synced,
    Rebuildable,
}

impl Folder {
    /// Opens a folder; `None` if it does not exist.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => Ok(Some(Self { dir, path: path.to_path_buf() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(NotebookError::file_error("open", path)(error)),
        }
    }

    /// Opens a folder, creating it and its parents with owner-only permissions.
    pub fn create(path: &Path) -> Result<Self> {
        create_private_folder(path).map_err(NotebookError::file_error("create", path))?;
        Self::open(path)?.ok_or_else(|| NotebookError::not_found(path.display().to_string()))
    }

    /// Whether the path still leads to this folder.
    pub fn is_current(&self) -> bool {
        let there = std::fs::metadata(&self.path);
        match (there, self.dir.dir_metadata()) {
            (Ok(there), Ok(open)) => identity_std(&there) == identity(&open),
            _ => false,
        }
    }

    /// The folder as a file handle, for locking.
    pub fn as_file(&self) -> std::io::Result<std::fs::File> {
        // A fresh handle, so that a lock on it belongs to this notebook alone.
        Ok(self.dir.open(".")?.into_std())
    }

    pub fn absolute_path(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    pub fn read_stamp(&self, path: &NotePath) -> Result<Option<FileStamp>> {
        Ok(self.find_regular_file(path)?.as_ref().map(FileStamp::from_metadata))
    }

    /// Reads a file; `None` if it does not exist.
    pub fn read_file(&self, path: &NotePath) -> Result<Option<(Vec<u8>, FileStamp)>> {
        let Some(metadata) = self.find_regular_file(path)? else { return Ok(None) };
        if metadata.len() > KEPT_BYTES_MAX {
            let why = format!("it is larger than {} MiB", KEPT_BYTES_MAX / 1024 / 1024);
            return Err(unreadable_error(path, why));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        let read = open_regular_file(&self.dir, path.as_str()).and_then(|file| {
            let stamp = FileStamp::from_metadata(&file.metadata()?);
            file.take(KEPT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok(stamp)
        });
        match read {
            Ok(stamp) => Ok(Some((bytes, stamp))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable_error(path, error.to_string())),
        }
    }

    /// The metadata of a path, provided it is a regular file in regular folders.
    fn find_regular_file(&self, path: &NotePath) -> Result<Option<Metadata>> {
        let mut above = String::new();
        for folder in path.folders() {
            above.push_str(folder);
            match self.dir.symlink_metadata(&above) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(NotebookError::PathEscapes(path.to_string()));
                }
                Ok(_) => return Err(unreadable_error(path, format!("{above} is not a folder"))),
                Err(error) => return none_if_not_found(path, &error),
            }
            above.push('/');
        }
        match self.dir.symlink_metadata(path.as_str()) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
            Ok(metadata) if metadata.is_symlink() => {
                Err(NotebookError::PathEscapes(path.to_string()))
            }
            Ok(_) => Err(unreadable_error(path, "it is not a file")),
            Err(error) => none_if_not_found(path, &error),
        }
    }

    /// Writes a temporary file beside the target. It gets the target's mode, or owner-only
    /// permissions if there is no target yet.
    pub fn stage_file(
        &self,
        path: &NotePath,
        bytes: &[u8],
        keep: FileDurability,
    ) -> Result<StagedFile<'_>> {
        let there = match self.find_regular_file(path) {
            // A link in place of a top-level index is replaced, not followed.
            Err(NotebookError::PathEscapes(_))
                if keep == FileDurability::Rebuildable && path.folders().next().is_none() =>
            {
                None
            }
            there => there?,
        };
        let mode = there.map(|metadata| metadata.permissions());
        let above = path.as_str().strip_suffix(path.file_name()).unwrap_or_default();
        self.create_folders(above)?;
        let temporary = self.temporary_name_for(path);
        let path_on_disk = path.as_str().to_owned();
        let staged = StagedFile { folder: self, temporary, path: path_on_disk, is_in_place: false };
        self.write_temporary_file(&staged.temporary, bytes, mode, keep)
            .map_err(NotebookError::file_error("write", &self.absolute_path(path.as_str())))?;
        Ok(staged)
    }

    fn write_temporary_file(
        &self,
        name: &str,
        bytes: &[u8],
        mode: Option<Permissions>,
        keep: FileDurability,
    ) -> std::io::Result<()> {
        let mut file = self.dir.open_with(name, &private_file_options())?;
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            file.set_permissions(mode)?;
        }
        if keep == FileDurability::Synced { file.sync_all() } else { Ok(()) }
    }

    fn create_folders(&self, above: &str) -> Result<()> {
        let above = above.trim_end_matches('/');
        if above.is_empty() || self.dir.is_dir(above) {
            return Ok(());
        }
        let mut created = String::new();
        for part in above.split('/') {
            let within = created.clone();
            created.push_str(part);
            match self.dir.create_dir_with(&created, &private_folder_builder()) {
                Ok(()) => self.sync_folder(within.trim_end_matches('/'))?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(
                        NotebookError::file_error("create", &self.absolute_path(&created))(error),
                    );
                }
            }
            created.push('/');
        }
        Ok(())
    }

    /// Deletes a file and returns the bytes it held at that moment: the file is renamed aside
    /// first, because another program may just have saved it.
    pub fn remove_file(&self, path: &NotePath) -> Result<Option<Vec<u8>>> {
        let aside = self.temporary_name_for(path);
        match self.dir.rename(path.as_str(), &self.dir, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(NotebookError::file_error(
                    "delete",
                    &self.absolute_path(path.as_str()),
                )(error));
            }
        }
        let mut removed = Vec::new();
        let read = self.dir.open(&aside);
        let read = read.and_then(|file| file.take(KEPT_BYTES_MAX).read_to_end(&mut removed));
        self.dir
            .remove_file(&aside)
            .map_err(NotebookError::file_error("delete", &self.absolute_path(path.as_str())))?;
        Ok(read.is_ok().then_some(removed))
    }

    /// A unique temporary name in the note's folder.
    fn temporary_name_for(&self, path: &NotePath) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let above = path.as_str().strip_suffix(path.file_name()).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{above}{TEMPORARY_PREFIX}{}-{number}.tmp", std::process::id())
    }

    /// Removes the empty folders above a path, bottom up.
    pub fn remove_empty_parents(&self, path: &NotePath) {
        let mut above = path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            // Fails for a folder that is not empty, which ends the loop.
            if self.dir.remove_dir(folder).is_err() {
                return;
            }
            above = folder;
        }
    }

    /// Syncs a folder, so that renames and deletions in it survive power loss.
    pub fn sync_folder(&self, folder: &str) -> Result<()> {
        if cfg!(windows) {
            return Ok(());
        }
        let folder = if folder.is_empty() { "." } else { folder };
        // Opened for reading: a path-only handle (`O_PATH`) cannot be synced.
        let synced = match self.dir.open(folder) {
            Ok(file) => file.sync_all(),
            // The folder was removed with its last file; the caller syncs its parent too.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        synced.map_err(NotebookError::file_error("sync", &self.absolute_path(folder)))
    }

    /// Lists every possible note with its stamp. `enter` is called with each folder before it is
    /// listed. With `sweep`, leftover temporary files are deleted; the caller holds the lock, so no
    /// write is using them.
    pub fn list_files(&self, enter: &mut dyn FnMut(&str), sweep: bool) -> Result<FolderListing> {
        let mut files = Vec::new();
        let mut seen = 0;
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            enter(&folder);
            let listed =
                if folder.is_empty() { self.dir.entries() } else { self.dir.read_dir(&folder) };
            let entries = match listed {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    return Err(NotebookError::file_error("list", &self.absolute_path(&folder))(
                        error,
                    ));
                }
            };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path =
                    if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !name.starts_with('.') && folder_depth(&path) <= FOLDERS_MAX {
                    waiting.push(path);
                } else if sweep && name.starts_with(TEMPORARY_PREFIX) && name.ends_with(".tmp") {
                    let _ = self.dir.remove_file(&path);
                } else if kind.is_file()
                    && let Ok(path) = NotePath::parse_for_reading(&path)
                    && let Ok(metadata) = entry.metadata()
                {
                    files.push((path, FileStamp::from_metadata(&metadata)));
                }
                seen += 1;
                if seen >= ENTRIES_MAX {
                    return Ok(FolderListing { files, is_complete: false });
                }
            }
        }
        Ok(FolderListing { files, is_complete: true })
    }
}

pub(crate) struct FolderListing {
    pub files: Vec<(NotePath, FileStamp)>,
    /// False if the listing stopped at `ENTRIES_MAX`.
    pub is_complete: bool,
}

impl StagedFile<'_> {
    /// Moves the file into place. Where the system can exchange two files atomically, returns the
    /// bytes that were replaced: another program may have saved the note just before.
    pub fn exchange_into_place(self) -> Result<Option<Vec<u8>>> {
        let dir = &self.folder.dir;
        if exchange_files(dir, &self.temporary, &self.path) {
            let mut replaced = Vec::new();
            let read = open_regular_file(dir, &self.temporary);
            let read = read.and_then(|file| file.take(KEPT_BYTES_MAX).read_to_end(&mut replaced));
            // Dropping `self` deletes the replaced file, which now has the temporary name.
            return Ok(read.is_ok().then_some(replaced));
        }
        self.rename_into_place()?;
        Ok(None)
    }

    /// Moves the file into place, replacing anything there.
    pub fn rename_into_place(mut self) -> Result<()> {
        let dir = &self.folder.dir;
        dir.rename(&self.temporary, dir, &self.path)
            .map_err(NotebookError::file_error("write", &self.folder.absolute_path(&self.path)))?;
        self.is_in_place = true;
        Ok(())
    }
}

/// Moves a folder to an unused path. A plain rename would also replace an empty folder, which
/// another process may just have created and opened.
#[cfg(target_os = "linux")]
pub fn move_if_free(from: &Path, to: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not support it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => std::fs::rename(from, to),
        moved => Ok(moved?),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn move_if_free(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::rename(from, to)
}

/// Atomically exchanges two files of one folder; `false` if one is missing or the system cannot.
#[cfg(target_os = "linux")]
fn exchange_files(dir: &Dir, one: &str, other: &str) -> bool {
    use rustix::fs::{RenameFlags, renameat_with};
    let (above, name) = other.rsplit_once('/').unwrap_or((".", other));
    let own = one.rsplit('/').next().unwrap_or(one);
    // Names are resolved within this folder, which was opened beneath the notebook's.
    let Ok(folder) = dir.open_dir(above) else { return false };
    renameat_with(&folder, own, &folder, name, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange_files(_: &Dir, _: &str, _: &str) -> bool {
    false
}

impl Drop for StagedFile<'_> {
    fn drop(&mut self) {
        if self.is_in_place {
            return;
        }
        let _ = self.folder.dir.remove_file(&self.temporary);
        if let Ok(path) = NotePath::parse_for_reading(&self.path) {
            self.folder.remove_empty_parents(&path);
        }
    }
}

fn folder_depth(folder: &str) -> usize {
    folder.split('/').count()
}

fn none_if_not_found<T>(path: &NotePath, error: &std::io::Error) -> Result<Option<T>> {
    match error.kind() {
        ErrorKind::NotFound => Ok(None),
        _ => Err(unreadable_error(path, error.to_string())),
    }
}

fn unreadable_error(path: &NotePath, why: impl Into<String>) -> NotebookError {
    NotebookError::Unreadable { path: path.to_string(), why: why.into() }
}

/// Opens a file with owner-only permissions, in a folder that is not a notebook's (the history's).
pub(crate) fn open_for_append(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder and its parents with owner-only permissions, and syncs the parents: a synced
/// file is lost if its folder's entry is.
pub(crate) fn create_private_folder(path: &Path) -> std::io::Result<()> {
    let made = path.ancestors().take_while(|folder| !folder.is_dir());
    let above: Vec<&Path> = made.filter_map(Path::parent).collect();
    if above.is_empty() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    above.into_iter().try_for_each(sync_folder_path)
}

/// Syncs a folder, so that new, renamed and deleted entries survive power loss.
pub(crate) fn sync_folder_path(folder: &Path) -> std::io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(windows) { Ok(()) } else { std::fs::File::open(folder)?.sync_all() }
}

/// Opens a regular file and nothing else. Another program may replace a note with a named pipe
/// after its metadata was read; opening one must not block, so the handle's type is checked again.
fn open_regular_file(dir: &Dir, path: &str) -> std::io::Result<cap_std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = dir.open_with(path, &options)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(std::io::Error::other("it is not a regular file"))
    }
}

fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_folder_builder() -> cap_std::fs::DirBuilder {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}
