//! A key in a file that only its owner can read.
//!
//! What is checked is the file that was opened, so nobody can exchange it in between. A link is
//! refused, because whoever may change the link decides what is read; so is anything that is no
//! plain file. Nothing of the file's content is ever repeated.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::limits::KEY_FILE_BYTES_MAX;
use crate::{ApiKey, ModelFailure};

impl ApiKey {
    /// The key in this file: its one line. On systems with permissions the file has to be its
    /// reader's own, and readable for nobody else.
    pub fn from_file(path: &Path) -> Result<Self, ModelFailure> {
        let shown = path.display();
        let refused =
            |why: String| ModelFailure::Misconfigured(format!("the key file {shown} {why}"));
        let file = opened(path).map_err(&refused)?;
        let mut text = String::new();
        let read = file.take(KEY_FILE_BYTES_MAX + 1).read_to_string(&mut text);
        if read.is_err() || text.len() as u64 > KEY_FILE_BYTES_MAX {
            return Err(refused("holds more than a key, or no text".to_owned()));
        }
        Self::new(&text).map_err(|_| {
            refused("is empty or holds more than a key: write the key alone into it".to_owned())
        })
    }
}

#[cfg(unix)]
fn opened(path: &Path) -> Result<File, String> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    // Not blocking: a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => "is a link: name the file itself".to_owned(),
        error => format!("cannot be read: {error}"),
    })?;
    let file = File::from(opened);
    let about = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() {
        return Err("is no plain file".to_owned());
    }
    if about.mode() & 0o077 != 0 {
        let path = path.display();
        return Err(format!("can be read or changed by others: chmod 600 {path}"));
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to somebody else: use a file of your own".to_owned());
    }
    Ok(file)
}

#[cfg(not(unix))]
fn opened(path: &Path) -> Result<File, String> {
    let said = |error: std::io::Error| format!("cannot be read: {error}");
    if !std::fs::symlink_metadata(path).map_err(said)?.is_file() {
        return Err("is no plain file".to_owned());
    }
    File::open(path).map_err(said)
}
