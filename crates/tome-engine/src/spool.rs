//! The spool: events that wait for the daemon, one JSON line each, with a checksum (spool_line.rs).
//!
//! Hooks append to `events.jsonl` under `lock` and sync before they exit. The daemon renames the
//! file away under the same lock, stores its events and deletes it; ids make a second pass after a
//! crash harmless. Unreadable lines are moved to `damaged.jsonl`, never dropped. Events that a
//! store rejects are moved to `held.jsonl` and retried with exponential backoff, so that they do
//! not block others.
//!
//! A hook may wait for `lock` until its own deadline. The daemon only tries briefly, because a hook
//! that is suspended while it holds the lock would block everything. Only the daemon writes
//! `damaged.jsonl` and `held.jsonl`, one drain at a time, so they need no lock.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tome_model::{DeliveredDraft, Millis};

use crate::spool_line;
use tome_home::sync_folder;
use tome_home::{Home, HomeError};

/// A longer line was not written by a hook: sealed events are far smaller.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Limit of a spool file in a backup.
const WAITING_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Attempts of the daemon to take a lock that a hook holds, and the pause between them.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Backoff after a failed attempt to store events; doubles up to the maximum.
const BACKOFF_MS_MIN: u64 = 1_500;
const BACKOFF_MS_MAX: u64 = 60_000;

/// Limit of remembered problems; each is logged once.
const PROBLEMS_MAX: usize = 64;

/// A file younger than this may not be synced yet by the process that created it.
const RECENT_AGE: Duration = Duration::from_secs(10);

/// The spool of a home.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
    backoff: Arc<Mutex<SpoolBackoff>>,
}

/// Problems that kept events from being stored, and the end of the backoff.
#[derive(Debug, Default)]
struct SpoolBackoff {
    problems: BTreeSet<String>,
    pause_ms: u64,
    until: Millis,
}

/// Size of the spool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolCounts {
    /// Events that have not been stored yet.
    pub events: u64,
    /// Size of those events.
    pub bytes: u64,
    /// Lines that were unreadable and moved to `damaged.jsonl`.
    pub damaged: u64,
}

impl Spool {
    /// Returns the spool of a home; creates nothing before the first write.
    pub fn new(home: &Home) -> Self {
        Self { folder: home.spool(), backoff: Arc::default() }
    }

    /// Appends drafts and syncs them. After an error they are not safe, but may still be there if
    /// only the sync failed; a second copy is recognized as the same event.
    pub fn append<D: Into<DeliveredDraft>>(&self, drafts: Vec<D>) -> std::io::Result<()> {
        self.append_if(drafts, || true).map(|_| ())
    }

    /// Appends drafts if `may_write` returns `true` once the lock is held: another owner may have
    /// handled them while this one waited. Returns whether they were written.
    pub fn append_if<D: Into<DeliveredDraft>>(
        &self,
        drafts: Vec<D>,
        may_write: impl FnOnce() -> bool,
    ) -> std::io::Result<bool> {
        let lines: String =
            drafts.into_iter().map(|draft| spool_line::render_spool_line(draft.into())).collect();
        std::fs::create_dir_all(&self.folder)?;
        let lock = self.lock_spool()?;
        if !may_write() {
            return Ok(false);
        }
        self.append_lines("events.jsonl", lines.as_bytes(), Some(lock))?;
        Ok(true)
    }

    fn append_lines(&self, name: &str, bytes: &[u8], lock: Option<File>) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let file = {
            let _lock = lock;
            let path = self.folder.join(name);
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            append_whole_lines(&mut file, bytes)?;
            file
        };
        // The lock is released: once the lines are written, renaming the file away is harmless.
        file.sync_all()?;
        let (created, written) = file.metadata().map(|it| (it.created(), it.modified()))?;
        let Ok(written) = written else { return self.sync_folders(true) };
        if is_recent(created, written) {
            // The creator of the file may not have synced the folder yet, so for a while every
            // writer does.
            let folder_created =
                std::fs::metadata(&self.folder).and_then(|folder| folder.created());
            self.sync_folders(is_recent(folder_created, written))?;
        }
        Ok(())
    }

    /// Makes a new file survive power loss, and the spool's folder too if that is new.
    fn sync_folders(&self, is_folder_new: bool) -> std::io::Result<()> {
        sync_folder(&self.folder)?;
        match self.folder.parent() {
            Some(home) if is_folder_new => sync_folder(home),
            _ => Ok(()),
        }
    }

    /// Takes the waiting files: new events, files left by an interrupted drain, and held events
    /// whose backoff is over. New events stay if a hook holds the lock for too long.
    pub fn take_files(&self, now: Millis) -> Result<Vec<SpoolFile>, HomeError> {
        let is_paused = self.is_paused(now);
        let earlier = if is_paused { Vec::new() } else { self.list_files("draining-") };
        let held = Some(self.folder.join("held.jsonl")).filter(|held| !is_paused && held.exists());
        let held = held.map(|held| self.rename_away(&held, now)).transpose()?;
        let waiting = self.folder.join("events.jsonl");
        let mut taken = None;
        if waiting.exists()
            && let Some(_lock) =
                self.try_lock_spool().map_err(HomeError::file("lock", &self.folder))?
            && waiting.exists()
        {
            taken = Some(self.rename_away(&waiting, now)?);
        }
        let paths = earlier.into_iter().chain(held).chain(taken);
        Ok(paths.map(|path| SpoolFile { path }).collect())
    }

    fn rename_away(&self, path: &Path, now: Millis) -> Result<PathBuf, HomeError> {
        let name = |n: u32| self.folder.join(format!("draining-{:015}-{n}.jsonl", now.0));
        let free = (0u32..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(u32::MAX));
        std::fs::rename(path, &free).map_err(HomeError::file("rename", path))?;
        Ok(free)
    }

    /// Keeps unreadable lines in `damaged.jsonl`.
    pub fn append_damaged(&self, lines: &[u8]) -> std::io::Result<()> {
        self.append_lines("damaged.jsonl", lines, None)
    }

    /// Keeps lines that a store rejected, for a retry.
    pub fn append_held(&self, lines: &[u8]) -> std::io::Result<()> {
        self.append_lines("held.jsonl", lines, None)
    }

    /// Records why events could not be stored and starts a backoff. Returns whether the problem is
    /// new.
    pub fn record_failure(&self, problem: &str, now: Millis) -> bool {
        let mut trouble = self.lock_backoff();
        if now >= trouble.until {
            trouble.pause_ms = (trouble.pause_ms * 2).clamp(BACKOFF_MS_MIN, BACKOFF_MS_MAX);
            trouble.until = Millis(now.0.saturating_add(trouble.pause_ms));
        }
        if trouble.problems.len() >= PROBLEMS_MAX {
            trouble.problems.clear();
        }
        trouble.problems.insert(problem.to_owned())
    }

    /// Problems that keep events from being stored, as far as this process has tried.
    pub fn problems(&self) -> Vec<String> {
        self.lock_backoff().problems.iter().cloned().collect()
    }

    /// Clears problems and backoff after everything was stored.
    pub fn clear_failures(&self) {
        *self.lock_backoff() = SpoolBackoff::default();
    }

    fn lock_backoff(&self) -> MutexGuard<'_, SpoolBackoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the backoff is still running. A clock that was set back does not extend it.
    pub fn is_paused(&self, now: Millis) -> bool {
        let until = self.lock_backoff().until;
        now < until && now.distance_ms(until) <= BACKOFF_MS_MAX
    }

    /// Whether events can be stored now. Only lists the folder, so it is cheap to poll.
    pub fn has_work(&self, now: Millis) -> bool {
        let waits = self.folder.join("events.jsonl").exists();
        let is_old = || {
            !self.list_files("draining-").is_empty() || !self.list_files("held.jsonl").is_empty()
        };
        waits || (!self.is_paused(now) && is_old())
    }

    /// Counts waiting events and damaged lines.
    pub fn count_waiting(&self) -> SpoolCounts {
        let mut waiting = SpoolCounts::default();
        let files = ["draining-", "held.jsonl", "events.jsonl"];
        for path in files.iter().flat_map(|name| self.list_files(name)) {
            let (lines, bytes) = count_lines(&path);
            waiting.events += lines;
            waiting.bytes += bytes;
        }
        waiting.damaged = count_lines(&self.folder.join("damaged.jsonl")).0;
        waiting
    }

    /// Reads the lines that wait, for a backup. Lines that a hook is writing now are left out.
    pub fn read_waiting(&self) -> Result<Vec<String>, HomeError> {
        let mut lines = Vec::new();
        let files = ["draining-", "held.jsonl", "events.jsonl"];
        for path in files.iter().flat_map(|name| self.list_files(name)) {
            let mut bytes = Vec::new();
            let read = File::open(&path)
                .and_then(|file| file.take(WAITING_BYTES_MAX).read_to_end(&mut bytes));
            match read {
                // The daemon has stored it meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                read => read.map_err(HomeError::file("read", &path))?,
            };
            let text = String::from_utf8_lossy(&bytes);
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            lines.extend(whole.map(|line| line.trim_end().to_owned()));
        }
        Ok(lines)
    }

    fn list_files(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }

    fn lock_spool(&self) -> std::io::Result<File> {
        let lock = self.open_lock_file()?;
        lock.lock()?;
        Ok(lock)
    }

    /// Takes the lock, or gives up if it is held for longer than it takes to write a line.
    fn try_lock_spool(&self) -> std::io::Result<Option<File>> {
        let lock = self.open_lock_file()?;
        Ok(try_lock_file(&lock, LOCK_TRIES, LOCK_PAUSE)?.then_some(lock))
    }

    fn open_lock_file(&self) -> std::io::Result<File> {
        let path = self.folder.join("lock");
        OpenOptions::new().write(true).create(true).truncate(false).open(path)
    }
}

/// Locks a file with a limited number of tries: a process that was suspended while it holds the lock must
/// not block the others. Returns whether it was locked.
pub fn try_lock_file(file: &File, tries: u32, pause: Duration) -> std::io::Result<bool> {
    for _ in 0..tries {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "there is no notification when a file is unlocked"
                )]
                std::thread::sleep(pause);
            }
        }
    }
    Ok(false)
}

/// Whether something was created shortly before `at`, or its age is unknown.
fn is_recent(made: std::io::Result<SystemTime>, at: SystemTime) -> bool {
    made.map_or(true, |made| at.duration_since(made).map_or(true, |age| age < RECENT_AGE))
}

/// Appends with one write. First terminates a partial line that a crash left behind; undoes a write
/// that fails halfway.
fn append_whole_lines(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
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
        // If this fails too, the partial line stays and is moved to `damaged.jsonl` later.
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

/// A file taken from the spool, to be deleted once all its events are stored.
#[derive(Debug)]
pub struct SpoolFile {
    path: PathBuf,
}

/// A line of the spool.
pub enum SpoolLine {
    /// An event, and the line it was parsed from.
    Draft(Box<DeliveredDraft>, Vec<u8>),
    /// Bytes that are not an intact event: torn by a crash, changed on disk, or not written by a
    /// hook.
    Damaged(Vec<u8>),
}

impl SpoolFile {
    /// Reads the file line by line, one line in memory at a time.
    pub fn read_lines(
        &self,
    ) -> Result<impl Iterator<Item = Result<SpoolLine, HomeError>> + use<>, HomeError> {
        let path = self.path.clone();
        let file = File::open(&path).map_err(HomeError::file("read", &path))?;
        let mut reader = BufReader::new(file);
        Ok(std::iter::from_fn(move || read_next_line(&mut reader, &path).transpose()))
    }

    /// Deletes the file once everything in it is stored, held or moved to `damaged.jsonl`.
    pub fn delete(self) -> Result<(), HomeError> {
        std::fs::remove_file(&self.path).map_err(HomeError::file("delete", &self.path))
    }
}

fn read_next_line(
    reader: &mut BufReader<File>,
    path: &Path,
) -> Result<Option<SpoolLine>, HomeError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(HomeError::file("read", path))? == 0 {
            return Ok(None);
        }
        if !line.trim_ascii().is_empty() {
            break;
        }
    }
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    Ok(Some(match spool_line::parse_spool_line(&line) {
        Some(delivered) => SpoolLine::Draft(Box::new(delivered), line),
        None => SpoolLine::Damaged(line),
    }))
}
