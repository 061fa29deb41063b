//! The spool: events that wait for the daemon, one line of JSON each.
//!
//! `events.jsonl` is appended to by hooks, under `lock`, and synced before the hook lets go of the
//! event. The daemon takes the file away by renaming it under the same lock, stores what is in it,
//! and deletes it; ids make a second reading after a crash harmless. Lines that cannot be read are
//! set aside in `damaged.jsonl`, never dropped.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_model::{Draft, EventLine, Millis};

use crate::durable::sync_folder;
use crate::{EngineError, Home};

/// A line longer than this was never written by a hook: sealed events are far smaller.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The spool of a home.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

/// What waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Events that have not been stored yet.
    pub events: u64,
    /// Their size.
    pub bytes: u64,
    /// Lines that could not be read and were set aside.
    pub damaged: u64,
}

impl Spool {
    /// The spool of a home; nothing is created before there is something to write.
    pub fn of(home: &Home) -> Self {
        Self { folder: home.spool() }
    }

    /// Appends drafts and syncs them. Either all of them are there afterwards, or none and an error.
    pub fn append(&self, drafts: Vec<Draft>) -> std::io::Result<()> {
        let mut bytes = String::new();
        for draft in drafts {
            bytes.push_str(&EventLine::from(draft).to_json());
            bytes.push('\n');
        }
        self.append_lines("events.jsonl", bytes.as_bytes())
    }

    fn append_lines(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(name);
        let (file, is_new) = {
            let _lock = self.lock()?;
            let is_new = !path.exists();
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            write_whole(&mut file, bytes)?;
            (file, is_new)
        };
        // The lock is not held here: once the line is written, taking the file away is harmless.
        file.sync_all()?;
        if is_new { sync_folder(&self.folder) } else { Ok(()) }
    }

    /// Takes away what waits, together with what an interrupted daemon had taken before.
    pub fn take(&self, now: Millis) -> Result<Vec<SpoolFile>, EngineError> {
        let waiting = self.folder.join("events.jsonl");
        if waiting.exists() {
            let _lock = self.lock().map_err(EngineError::file("lock", &self.folder))?;
            let taken = (0u32..)
                .map(|n| self.folder.join(format!("draining-{:015}-{n}.jsonl", now.0)))
                .find(|path| !path.exists());
            if let Some(taken) = taken
                && waiting.exists()
            {
                std::fs::rename(&waiting, &taken).map_err(EngineError::file("rename", &waiting))?;
            }
        }
        Ok(self.files("draining-").into_iter().map(|path| SpoolFile { path }).collect())
    }

    /// Sets lines aside that could not be read.
    pub fn set_aside(&self, lines: &[u8]) -> std::io::Result<()> {
        self.append_lines("damaged.jsonl", lines)
    }

    /// Whether anything waits to be stored. One look at the folder, cheap enough to repeat.
    pub fn is_waiting(&self) -> bool {
        self.folder.join("events.jsonl").exists() || !self.files("draining-").is_empty()
    }

    /// Counts what waits.
    pub fn waiting(&self) -> Waiting {
        let mut waiting = Waiting::default();
        for path in self.files("draining-").into_iter().chain(self.files("events.jsonl")) {
            let (lines, bytes) = count_lines(&path);
            waiting.events += lines;
            waiting.bytes += bytes;
        }
        waiting.damaged = count_lines(&self.folder.join("damaged.jsonl")).0;
        waiting
    }

    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }

    fn lock(&self) -> std::io::Result<File> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.folder.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }
}

/// Appends with one write. A torn line that a crash left behind is ended first, so that it cannot
/// swallow this one; a write that fails halfway is taken back.
fn write_whole(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if end > 0 {
        file.seek(SeekFrom::Start(end - 1))?;
        file.read_exact(&mut last)?;
    }
    let written = if last == [b'\n'] {
        file.write_all(bytes)
    } else {
        file.write_all(&[b"\n", bytes].concat())
    };
    if written.is_err() {
        // If this fails too, the half line stays and is set aside when it is read.
        let _ = file.set_len(end);
    }
    written
}

fn count_lines(path: &Path) -> (u64, u64) {
    let Ok(file) = File::open(path) else {
        return (0, 0);
    };
    let bytes = file.metadata().map_or(0, |meta| meta.len());
    let mut lines = 0;
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    loop {
        let used = match reader.fill_buf() {
            Ok([]) | Err(_) => return (lines, bytes),
            Ok(buffer) => {
                lines += buffer.iter().filter(|byte| **byte == b'\n').count() as u64;
                buffer.len()
            }
        };
        reader.consume(used);
    }
}

/// A file that was taken from the spool, to be deleted once everything in it is stored.
#[derive(Debug)]
pub struct SpoolFile {
    path: PathBuf,
}

/// One line of the spool.
pub enum SpoolLine {
    /// An event, and the line that it was read from.
    Draft(Box<Draft>, Vec<u8>),
    /// Bytes that are no event: torn by a crash, or not written by a hook.
    Damaged(Vec<u8>),
}

impl SpoolFile {
    /// Reads the file line by line, holding one line in memory at a time.
    pub fn lines(
        &self,
    ) -> Result<impl Iterator<Item = Result<SpoolLine, EngineError>> + use<>, EngineError> {
        let path = self.path.clone();
        let file = File::open(&path).map_err(EngineError::file("read", &path))?;
        let mut reader = BufReader::new(file);
        Ok(std::iter::from_fn(move || next_line(&mut reader, &path).transpose()))
    }

    /// Deletes the file: everything in it is stored or set aside.
    pub fn done(self) -> Result<(), EngineError> {
        std::fs::remove_file(&self.path).map_err(EngineError::file("delete", &self.path))
    }
}

fn next_line(reader: &mut BufReader<File>, path: &Path) -> Result<Option<SpoolLine>, EngineError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(EngineError::file("read", path))? == 0 {
            return Ok(None);
        }
        if !line.trim_ascii().is_empty() {
            break;
        }
    }
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    let parsed = std::str::from_utf8(&line).ok().map(EventLine::parse);
    let draft = parsed.and_then(|parsed| parsed.and_then(EventLine::into_draft).ok());
    Ok(Some(match draft {
        Some(draft) => SpoolLine::Draft(Box::new(draft), line),
        None => SpoolLine::Damaged(line),
    }))
}
