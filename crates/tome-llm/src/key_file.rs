//! Reads an API key from a file that only its owner can access.
//!
//! The checks apply to the open file, so it cannot be swapped in between. Symlinks are rejected,
//! because their owner decides what is read, and so is anything but a regular file. Errors never repeat
//! the file's content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::limits::KEY_FILE_BYTES_MAX;
use crate::{ApiKey, ModelFailure};

impl ApiKey {
    /// Reads the key from a file, which must contain only the key. On Unix the file must belong to the
    /// current user and be inaccessible to others.
    pub fn from_file(path: &Path) -> Result<Self, ModelFailure> {
        let shown = path.display();
        let refused =
            |why: String| ModelFailure::Misconfigured(format!("the key file {shown} {why}"));
        let file = open_owner_only(path).map_err(&refused)?;
        let mut text = String::new();
        let read = file.take(KEY_FILE_BYTES_MAX + 1).read_to_string(&mut text);
        if read.is_err() || text.len() as u64 > KEY_FILE_BYTES_MAX {
            return Err(refused("contains more than a key, or is not text".to_owned()));
        }
        Self::new(&text).map_err(|_| {
            refused("is empty or contains more than a key: put only the key in it".to_owned())
        })
    }
}

#[cfg(unix)]
fn open_owner_only(path: &Path) -> Result<File, String> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    // Non-blocking, because opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => "is a symlink: use the path of the file itself".to_owned(),
        error => format!("cannot be read: {error}"),
    })?;
    let file = File::from(opened);
    let about = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if about.mode() & 0o077 != 0 {
        let path = path.display();
        return Err(format!("is accessible to other users: run chmod 600 {path}"));
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user: use a file that you own".to_owned());
    }
    Ok(file)
}

#[cfg(not(unix))]
fn open_owner_only(path: &Path) -> Result<File, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    if !std::fs::symlink_metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    File::open(path).map_err(unreadable)
}
