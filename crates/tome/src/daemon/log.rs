//! The daemon's log: one line per entry, rotated by size. It never contains the text of events.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tome_model::Clock;

/// Size at which the log is rotated.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Rotated files to keep; `daemon.log.1` is the newest.
const OLDER_FILES_MAX: u32 = 3;

pub struct Log {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    file: Mutex<Option<File>>,
}

impl Log {
    /// Opens the log. Errors are ignored: the daemon serves without a log too.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Self {
        let file = Mutex::new(open_for_append(path));
        Self { path: path.to_path_buf(), clock, file }
    }

    /// Appends one line with a timestamp.
    pub fn write(&self, message: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .is_some_and(|meta| meta.len() >= FILE_BYTES_MAX)
        {
            *file = None;
            self.rotate();
        }
        if file.is_none() {
            *file = open_for_append(&self.path);
        }
        if let Some(file) = file.as_mut() {
            let line = message.replace(['\n', '\r'], " ");
            let _ = file.write_all(format!("{} {line}\n", self.clock.now()).as_bytes());
        }
    }

    fn rotate(&self) {
        let older = |n: u32| self.path.with_extension(format!("log.{n}"));
        for n in (1..OLDER_FILES_MAX).rev() {
            let _ = std::fs::rename(older(n), older(n + 1));
        }
        let _ = std::fs::rename(&self.path, older(1));
    }
}

fn open_for_append(path: &Path) -> Option<File> {
    OpenOptions::new().append(true).create(true).open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tome_model::SystemClock;

    #[test]
    fn the_log_rotates_and_keeps_three_older_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let log = Log::open(&path, Arc::new(SystemClock));
        let line = "x".repeat(512 * 1024);
        for _ in 0..12 {
            log.write(&line);
        }
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]);
        assert!(path.metadata().unwrap().len() <= FILE_BYTES_MAX + 600 * 1024);
    }
}
