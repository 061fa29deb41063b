//! An open notebook: its folder, inventory and history, and the known state of the files on disk.
//!
//! Every writer holds the lock on the folder and detects outside edits first, so that these are in
//! the history before anything overwrites them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tome_model::{Clock, Millis, Scope, SystemClock};

use crate::built_files::BuiltFiles;
use crate::file_stamp::FileStamp;
use crate::folder::{Folder, FolderListing, create_private_folder, open_for_append};
use crate::history::{DELETED_VERSION, History, HistoryRecord, content_version, pending_write};
use crate::inventory::{Inventory, NoteEntry};
use crate::limits::{ENTRIES_MAX, NOTES_MAX};
use crate::path::NotePath;
use crate::prepare_hook::BeforeFirstWrite;
use crate::watch::{FolderChanges, FolderWatch};
use crate::{Actor, Author, NotebookError, Result};

/// How long to wait for another process to release the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Outside edits stored as deltas at once: each one needs a lookup of the previous version.
const DELTA_CHANGES_MAX: usize = 8;

pub(crate) struct NotebookState {
    pub scope: Scope,
    pub folder: Folder,
    pub inventory: Inventory,
    pub history: History,
    pub built: BuiltFiles,
    pub prepare: BeforeFirstWrite,
    lock: File,
    /// Queue file, locked while waiting for the main lock. Without it locking is not fair.
    queue: OnceLock<File>,
    queue_path: PathBuf,
    watch: Option<FolderWatch>,
    loaded: bool,
    /// Whether changes were found that are not in the history yet.
    pub has_unrecorded_changes: bool,
    /// Whether the inventory has changed since the index was last built from it.
    pub index_changed: bool,
    pub unserved: UnservedFiles,
    /// Notes that a restore put beside others: the path of the other, by path.
    pub copies: BTreeMap<String, String>,
}

/// Files that are not served because the folder holds too many.
#[derive(Debug, Default)]
pub(crate) struct UnservedFiles {
    /// Listed notes beyond the limit; at most `ENTRIES_MAX`.
    notes: BTreeSet<NotePath>,
    /// Whether there are more than listed.
    is_truncated: bool,
}

impl UnservedFiles {
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && !self.is_truncated
    }

    fn insert(&mut self, path: NotePath) {
        if self.notes.len() < ENTRIES_MAX {
            self.notes.insert(path);
        } else {
            self.is_truncated |= !self.notes.contains(&path);
        }
    }
}

impl std::fmt::Display for UnservedFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.is_truncated { " or more" } else { "" };
        let count = self.notes.len();
        write!(f, "{count}{more} files are not served: the limit is {NOTES_MAX} notes")
    }
}

/// A file that differs from its latest version in the history.
struct UnrecordedChange {
    path: NotePath,
    after: Option<Vec<u8>>,
}

impl NotebookState {
    pub fn open(scope: Scope, folder: Folder, root: &Path, history: &Path) -> Result<Self> {
        let lock = open_lock_file(&folder, history)?;
        Ok(Self {
            scope,
            inventory: Inventory::new(),
            history: History::new(history),
            built: BuiltFiles::load(history),
            prepare: BeforeFirstWrite::default(),
            lock,
            queue: OnceLock::new(),
            queue_path: history.join("turn"),
            watch: FolderWatch::open(root),
            loaded: false,
            has_unrecorded_changes: false,
            index_changed: true,
            unserved: UnservedFiles::default(),
            copies: BTreeMap::new(),
            folder,
        })
    }

    /// Takes the inter-process lock; dropping the guard releases it. `since` is when the caller
    /// began to wait.
    ///
    /// Waiters poll, so a process that writes again and again could keep overtaking them. Everyone
    /// therefore queues for a second lock first; its holder is next.
    pub fn lock(&self, since: Instant) -> Result<LockGuard> {
        let failed =
            |error| NotebookError::file_error("lock", &self.folder.absolute_path(""))(error);
        let _turn = self
            .queue_lock()
            .map(|turn| lock_with_timeout(turn, since))
            .transpose()
            .map_err(failed)?;
        lock_with_timeout(self.lock.try_clone().map_err(failed)?, since).map_err(failed)
    }

    /// The queue lock; `None` before the notebook has a history.
    fn queue_lock(&self) -> Option<File> {
        if self.queue.get().is_none() && self.queue_path.exists() {
            self.open_queue_file();
        }
        self.queue.get()?.try_clone().ok()
    }

    /// Opens the queue file, which exists from the notebook's first change on.
    pub fn open_queue_file(&self) {
        if self.queue.get().is_none()
            && let Ok(file) = open_for_append(&self.queue_path)
        {
            let _ = self.queue.set(file);
        }
    }

    /// Discards the known state: the next check reads every file.
    pub fn invalidate(&mut self) {
        self.loaded = false;
    }

    /// Whether the kernel reports changes, so that detecting them is nearly free.
    pub fn is_watched(&self) -> bool {
        self.loaded && self.watch.is_some()
    }

    /// Whether the index on disk may be out of date.
    pub fn is_index_stale(&self) -> bool {
        self.index_changed || self.built.is_doubtful()
    }

    /// Detects what changed on disk since the last call. The caller holds the lock. With `record`,
    /// all changes are in the history afterwards, which is created if necessary. Without it nothing
    /// is created, and changes that could not be recorded are retried by the next call. Returns the
    /// number of changed notes.
    pub fn detect_changes(&mut self, now: Millis, record: bool) -> Result<usize> {
        // Before the watch is drained: it reports each change only once.
        self.has_unrecorded_changes |= self.history.catch_up()?;
        let records = record || self.history.exists();
        let overdue = records && self.has_unrecorded_changes;
        let changed = match (self.loaded && !overdue, &mut self.watch) {
            (true, Some(watch)) => watch.take_changes(),
            _ => FolderChanges::Unknown,
        };
        // If this fails half-way, the next call checks every file.
        self.loaded = false;
        let changes = match changed {
            FolderChanges::Files(files) => self.check_files(&files)?,
            FolderChanges::Unknown => self.check_all_files(overdue)?,
        };
        let recorded = match &changes {
            changes if changes.is_empty() => Ok(()),
            changes if records => self.record_changes(now, changes),
            _ => Ok(()),
        };
        if records && recorded.is_ok() {
            // The caller holds the lock, so the process that left the marker is gone.
            pending_write::clear_marker(self.history.folder());
        }
        self.has_unrecorded_changes = match (records, &recorded) {
            (true, recorded) => recorded.is_err(),
            (false, _) => self.has_unrecorded_changes || !changes.is_empty(),
        };
        if record {
            recorded?;
        }
        self.loaded = true;
        Ok(changes.len())
    }

    fn check_files(&mut self, files: &BTreeSet<String>) -> Result<Vec<UnrecordedChange>> {
        let mut changes = Vec::new();
        for path in files.iter().filter_map(|path| NotePath::parse_for_reading(path).ok()) {
            if path.is_index() {
                self.built.mark_doubtful(&self.folder, &path);
                continue;
            }
            self.unserved.notes.remove(&path);
            if !self.exceeds_note_limit(&path) {
                changes.extend(self.check_file(path, None)?);
            } else if self.folder.read_stamp(&path).is_ok_and(|stamp| stamp.is_some()) {
                self.unserved.insert(path);
            }
        }
        Ok(changes)
    }

    /// Checks every file; with `overdue` also compares known files with the history, because
    /// changes to them were seen but never recorded.
    fn check_all_files(&mut self, overdue: bool) -> Result<Vec<UnrecordedChange>> {
        // A watch keeps entries of removed folders; a fresh one is as cheap as cleaning up.
        if self.watch.is_some() {
            self.watch = FolderWatch::open(&self.folder.absolute_path(""));
        }
        let watch = &mut self.watch;
        let mut enter = |folder: &str| {
            if let Some(watch) = watch.as_mut() {
                watch.add_folder(folder);
            }
        };
        let walked = self.folder.list_files(&mut enter, true)?;
        self.built.mark_all_doubtful();
        let there = self.select_served_notes(walked);
        let mut gone: BTreeSet<NotePath> = self.inventory.keys().cloned().collect();
        let inventoried =
            self.history.existing_paths().filter_map(|path| NotePath::parse_for_reading(path).ok());
        gone.extend(inventoried.filter(|path| !path.is_index()));
        let mut changes = Vec::new();
        for (path, stamp) in there {
            gone.remove(&path);
            let inventoried =
                self.inventory.get(&path).map(|inventoried| inventoried.version.as_str());
            let recorded = !overdue || self.history.latest_version(path.as_str()) == inventoried;
            changes.extend(self.check_file(path, recorded.then_some(stamp))?);
        }
        for path in gone {
            changes.extend(self.check_file(path, None)?);
        }
        Ok(changes)
    }

    /// Whether a new file would exceed the note limit; notes that are already known never do.
    fn exceeds_note_limit(&self, path: &NotePath) -> bool {
        self.inventory.len() >= NOTES_MAX
            && !self.inventory.contains_key(path)
            && self.history.latest_version(path.as_str()).is_none()
    }

    /// Selects the notes to serve. If there are too many, those with a history come first, so that
    /// a flood of files displaces no note; the rest go by name, to keep the selection stable.
    fn select_served_notes(&mut self, walked: FolderListing) -> Vec<(NotePath, FileStamp)> {
        let mut there: Vec<_> =
            walked.files.into_iter().filter(|(path, _)| !path.is_index()).collect();
        self.unserved = UnservedFiles::default();
        if there.len() > NOTES_MAX || !walked.is_complete {
            let history = &self.history;
            let is_known = |path: &NotePath| {
                history
                    .latest_version(path.as_str())
                    .is_some_and(|latest| latest != DELETED_VERSION)
            };
            there.sort_by_cached_key(|(path, _)| (!is_known(path), path.clone()));
            let unserved = there.split_off(there.len().min(NOTES_MAX));
            self.unserved.notes = unserved.into_iter().map(|(path, _)| path).collect();
            self.unserved.is_truncated = !walked.is_complete;
        }
        there
    }

    /// Checks one file, given its `stamp` where known, and updates the inventory. Returns the
    /// change if the file differs from the history.
    fn check_file(
        &mut self,
        path: NotePath,
        stamp: Option<FileStamp>,
    ) -> Result<Option<UnrecordedChange>> {
        let recorded = self.inventory.get(&path);
        if let (Some(stamp), Some(recorded)) = (stamp, recorded)
            && recorded.stamp_is_reliable
            && recorded.stamp == stamp
        {
            return Ok(None);
        }
        let read_at = SystemClock.now();
        match self.folder.read_file(&path) {
            Ok(Some((bytes, stamp))) => {
                let entry = NoteEntry::from_bytes(self.scope, &path, &bytes, stamp, read_at);
                let same =
                    self.history.latest_version(path.as_str()) == Some(entry.version.as_str());
                self.update_inventory(&path, Some(entry));
                Ok((!same).then_some(UnrecordedChange { path, after: Some(bytes) }))
            }
            Ok(None) => {
                self.update_inventory(&path, None);
                let was = self
                    .history
                    .latest_version(path.as_str())
                    .is_some_and(|latest| latest != DELETED_VERSION);
                Ok(was.then_some(UnrecordedChange { path, after: None }))
            }
            Err(why) => {
                // List an unreadable file as such; a link or a pipe is not a note and has no stamp.
                let stamp = self.folder.read_stamp(&path).ok().flatten();
                let entry = stamp
                    .map(|stamp| NoteEntry::unreadable(self.scope, &path, stamp, &why.to_string()));
                self.update_inventory(&path, entry);
                Ok(None)
            }
        }
    }

    fn update_inventory(&mut self, path: &NotePath, entry: Option<NoteEntry>) {
        let line = entry.as_ref().map(|entry| entry.index_line.clone());
        let before = match entry {
            Some(entry) => self.inventory.insert(path.clone(), entry),
            None => self.inventory.remove(path),
        };
        // The line covers everything the index shows, except the titles of lessons.
        let lessons = self.scope == Scope::Coder;
        self.index_changed |= lessons || before.map(|before| before.index_line) != line;
    }

    /// Runs the prepare callback before the first write.
    pub fn prepare_first_write(&self) -> Result<()> {
        if self.history.exists() {
            return Ok(());
        }
        self.prepare.run(&self.folder.absolute_path(""))
    }

    fn record_changes(&mut self, now: Millis, changes: &[UnrecordedChange]) -> Result<()> {
        self.prepare_first_write()?;
        let authors = self.find_authors(changes)?;
        let by = outside_author();
        let mut befores: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        if changes.len() <= DELTA_CHANGES_MAX {
            for change in changes {
                if self
                    .history
                    .latest_version(change.path.as_str())
                    .is_some_and(|latest| latest != DELETED_VERSION)
                {
                    let last = self.history.read_last_content(change.path.as_str())?;
                    befores.extend(last.map(|content| (change.path.as_str(), content)));
                }
            }
        }
        let happened: Vec<HistoryRecord<'_>> = changes
            .iter()
            .map(|change| HistoryRecord {
                path: change.path.as_str(),
                by: authors.get(change.path.as_str()).unwrap_or(&by),
                existed: self
                    .history
                    .latest_version(change.path.as_str())
                    .is_some_and(|at| at != DELETED_VERSION),
                before: befores.get(change.path.as_str()).map(Vec::as_slice),
                after: change.after.as_deref(),
            })
            .collect();
        self.history.append_records(now, &happened).map(drop)
    }
}

impl NotebookState {
    /// Finds the authors of changes that were made through Tome after all: a write that was
    /// interrupted, or a file that again holds an earlier version written through Tome, or one that a
    /// restore brought.
    fn find_authors(&self, changes: &[UnrecordedChange]) -> Result<HashMap<String, Author>> {
        let mut authors = HashMap::new();
        if let Some(pending) = pending_write::read_marker(self.history.folder()) {
            let paths = changes.iter().map(|change| change.path.as_str());
            let covered = paths.filter(|path| pending.covers(path));
            authors.extend(covered.map(|path| (path.to_owned(), pending.author())));
        }
        let mut versions = HashMap::new();
        for change in changes {
            let path = self.original_path(change.path.as_str());
            let is_known =
                self.history.latest_version(path).is_some() || self.history.has_restored(path);
            if let Some(bytes) = change.after.as_ref().filter(|_| is_known) {
                versions.insert(path, content_version(bytes));
            }
        }
        versions.retain(|path, _| !authors.contains_key(*path));
        if !versions.is_empty() {
            let found = self.history.find_authors(&versions)?;
            for change in changes {
                let path = change.path.as_str();
                let Some((who, is_restored)) = found.get(self.original_path(path)) else {
                    continue;
                };
                let is_copy = self.copies.contains_key(path);
                let tool = if *is_restored || is_copy { "restored" } else { "reverted" };
                let author = Author { who: who.clone(), tool: tool.to_owned() };
                authors.entry(path.to_owned()).or_insert(author);
            }
        }
        Ok(authors)
    }

    /// The note that a restored note was put beside; else its own path.
    fn original_path<'a>(&'a self, path: &'a str) -> &'a str {
        self.copies.get(path).map_or(path, String::as_str)
    }
}

/// The author of changes that Tome finds on disk.
pub(crate) fn outside_author() -> Author {
    Author { who: Actor::Outside, tool: "edited".to_owned() }
}

pub(crate) struct LockGuard(File);

fn lock_with_timeout(file: File, since: Instant) -> std::io::Result<LockGuard> {
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(LockGuard(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if since.elapsed() > LOCK_TIMEOUT => {
                let busy = "locked by another program for 10 s; try again";
                return Err(std::io::Error::new(std::io::ErrorKind::WouldBlock, busy));
            }
            Err(TryLockError::WouldBlock) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "file locks have no timeout; blocking would hang along with the lock's holder"
                )]
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Another handle of the file stays open, so closing this one would not release the lock.
        let _ = self.0.unlock();
    }
}

/// Opens the file to lock: the folder itself, so that all users of it share one lock whatever their
/// home; if a folder cannot be locked, a file beside the history.
fn open_lock_file(folder: &Folder, history: &Path) -> Result<File> {
    if cfg!(unix)
        && let Ok(file) = folder.as_file()
    {
        match file.try_lock() {
            Ok(()) => {
                let _ = file.unlock();
                return Ok(file);
            }
            Err(TryLockError::WouldBlock) => return Ok(file),
            Err(TryLockError::Error(_)) => {}
        }
    }
    let path: PathBuf = history.join("lock");
    create_private_folder(history).map_err(NotebookError::file_error("create", history))?;
    open_for_append(&path).map_err(NotebookError::file_error("open", &path))
}
