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

use crate::built::Built;
use crate::folder::{Folder, Stamp, Walked, append_to, make_private};
use crate::history::{GONE, Happened, History, pending, version_of};
use crate::inventory::{Entry, Inventory};
use crate::limits::NOTES_MAX;
use crate::notebook::{Prepare, prepared};
use crate::path::NotePath;
use crate::watch::{Changed, Watch};
use crate::{Author, NotebookError, Result, Who};

/// How long to wait for another process to release the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Outside edits stored as deltas at once: each one needs a lookup of the previous version.
const COMPARED_MAX: usize = 8;

pub(crate) struct Shelf {
    pub scope: Scope,
    pub folder: Folder,
    pub inventory: Inventory,
    pub history: History,
    pub built: Built,
    pub prepare: Option<Prepare>,
    lock: File,
    /// Queue file, locked while waiting for the main lock. Without it locking is not fair.
    turn: OnceLock<File>,
    turn_file: PathBuf,
    watch: Option<Watch>,
    loaded: bool,
    /// Whether changes were found that are not in the history yet.
    pub unrecorded: bool,
    /// Whether the inventory has changed since the index was last built from it.
    pub index_behind: bool,
    pub left_out: Option<LeftOut>,
}

/// Files that are not served because the folder holds too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Listed notes beyond the limit.
    notes: usize,
    /// Whether the folder was listed to its end.
    is_whole: bool,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.is_whole { "" } else { " or more" };
        write!(f, "{}{more} files are not served: the limit is {NOTES_MAX} notes", self.notes)
    }
}

/// A file that differs from its latest version in the history.
struct Found {
    path: NotePath,
    after: Option<Vec<u8>>,
}

impl Shelf {
    pub fn open(scope: Scope, folder: Folder, root: &Path, history: &Path) -> Result<Self> {
        let lock = lock_file(&folder, history)?;
        Ok(Self {
            scope,
            inventory: Inventory::new(),
            history: History::of(history),
            built: Built::of(history),
            prepare: None,
            lock,
            turn: OnceLock::new(),
            turn_file: history.join("turn"),
            watch: Watch::over(root),
            loaded: false,
            unrecorded: false,
            index_behind: true,
            left_out: None,
            folder,
        })
    }

    /// Takes the inter-process lock; dropping the guard releases it. `since` is when the caller
    /// began to wait.
    ///
    /// Waiters poll, so a process that writes again and again could keep overtaking them. Everyone
    /// therefore queues for a second lock first; its holder is next.
    pub fn lock(&self, since: Instant) -> Result<Locked> {
        let failed = |error| NotebookError::file("lock", &self.folder.full(""))(error);
        let _turn = self.turn().map(|turn| wait_for(turn, since)).transpose().map_err(failed)?;
        wait_for(self.lock.try_clone().map_err(failed)?, since).map_err(failed)
    }

    /// The queue lock; `None` before the notebook has a history.
    fn turn(&self) -> Option<File> {
        if self.turn.get().is_none() && self.turn_file.exists() {
            self.open_turn();
        }
        self.turn.get()?.try_clone().ok()
    }

    /// Opens the queue file, which exists from the notebook's first change on.
    pub fn open_turn(&self) {
        if self.turn.get().is_none()
            && let Ok(file) = append_to(&self.turn_file)
        {
            let _ = self.turn.set(file);
        }
    }

    /// Discards the known state: the next check reads every file.
    pub fn forget(&mut self) {
        self.loaded = false;
    }

    /// Whether the kernel reports changes, so that detecting them is nearly free.
    pub fn is_watched(&self) -> bool {
        self.loaded && self.watch.is_some()
    }

    /// Whether the index on disk may be out of date.
    pub fn is_index_behind(&self) -> bool {
        self.index_behind || self.built.is_doubtful()
    }

    /// Detects what changed on disk since the last call. The caller holds the lock. With `record`,
    /// all changes are in the history afterwards, which is created if necessary. Without it nothing
    /// is created, and changes that could not be recorded are retried by the next call. Returns the
    /// number of changed notes.
    pub fn notice(&mut self, now: Millis, record: bool) -> Result<usize> {
        // Before the watch is drained: it reports each change only once.
        self.unrecorded |= self.history.catch_up()?;
        let records = record || self.history.exists();
        let overdue = records && self.unrecorded;
        let changed = match (self.loaded && !overdue, &mut self.watch) {
            (true, Some(watch)) => watch.take(),
            _ => Changed::Unknown,
        };
        // If this fails half-way, the next call checks every file.
        self.loaded = false;
        let found = match changed {
            Changed::Files(files) => self.look_at(&files)?,
            Changed::Unknown => self.look_at_all(overdue)?,
        };
        let recorded = match &found {
            found if found.is_empty() => Ok(()),
            found if records => self.record(now, found),
            _ => Ok(()),
        };
        if records && recorded.is_ok() {
            // The caller holds the lock, so the process that left the marker is gone.
            pending::end(self.history.folder());
        }
        self.unrecorded = match (records, &recorded) {
            (true, recorded) => recorded.is_err(),
            (false, _) => self.unrecorded || !found.is_empty(),
        };
        if record {
            recorded?;
        }
        self.loaded = true;
        Ok(found.len())
    }

    fn look_at(&mut self, files: &BTreeSet<String>) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for path in files.iter().filter_map(|path| NotePath::for_reading(path).ok()) {
            if path.is_index() {
                self.built.doubt(&self.folder, &path);
            } else if self.is_too_much(&path) {
                let left_out = self.left_out.get_or_insert(LeftOut { notes: 0, is_whole: true });
                left_out.notes += 1;
            } else {
                found.extend(self.look(path, None)?);
            }
        }
        Ok(found)
    }

    /// Checks every file; with `overdue` also compares known files with the history, because
    /// changes to them were seen but never recorded.
    fn look_at_all(&mut self, overdue: bool) -> Result<Vec<Found>> {
        // A watch keeps entries of removed folders; a fresh one is as cheap as cleaning up.
        if self.watch.is_some() {
            self.watch = Watch::over(&self.folder.full(""));
        }
        let watch = &mut self.watch;
        let mut enter = |folder: &str| {
            if let Some(watch) = watch.as_mut() {
                watch.add(folder);
            }
        };
        let walked = self.folder.walk(&mut enter, true)?;
        self.built.doubt_all();
        let there = self.choose(walked);
        let mut gone: BTreeSet<NotePath> = self.inventory.keys().cloned().collect();
        let known = self.history.present().filter_map(|path| NotePath::for_reading(path).ok());
        gone.extend(known.filter(|path| !path.is_index()));
        let mut found = Vec::new();
        for (path, stamp) in there {
            gone.remove(&path);
            let known = self.inventory.get(&path).map(|known| known.version.as_str());
            let recorded = !overdue || self.history.latest(path.as_str()) == known;
            found.extend(self.look(path, recorded.then_some(stamp))?);
        }
        for path in gone {
            found.extend(self.look(path, None)?);
        }
        Ok(found)
    }

    /// Whether a new file would exceed the note limit; notes that are already known never do.
    fn is_too_much(&self, path: &NotePath) -> bool {
        self.inventory.len() >= NOTES_MAX
            && !self.inventory.contains_key(path)
            && self.history.latest(path.as_str()).is_none()
    }

    /// Selects the notes to serve. If there are too many, those with a history come first, so that
    /// a flood of files displaces no note; the rest go by name, to keep the selection stable.
    fn choose(&mut self, walked: Walked) -> Vec<(NotePath, Stamp)> {
        let mut there: Vec<_> =
            walked.found.into_iter().filter(|(path, _)| !path.is_index()).collect();
        self.left_out = None;
        if there.len() > NOTES_MAX || !walked.is_whole {
            let history = &self.history;
            let is_known = |path: &NotePath| {
                history.latest(path.as_str()).is_some_and(|latest| latest != GONE)
            };
            there.sort_by_cached_key(|(path, _)| (!is_known(path), path.clone()));
            let left_out = there.len().saturating_sub(NOTES_MAX);
            there.truncate(NOTES_MAX);
            self.left_out = Some(LeftOut { notes: left_out, is_whole: walked.is_whole });
        }
        there
    }

    /// Checks one file, given its `stamp` where known, and updates the inventory. Returns the
    /// change if the file differs from the history.
    fn look(&mut self, path: NotePath, stamp: Option<Stamp>) -> Result<Option<Found>> {
        let known = self.inventory.get(&path);
        if let (Some(stamp), Some(known)) = (stamp, known)
            && known.settled
            && known.stamp == stamp
        {
            return Ok(None);
        }
        let read_at = SystemClock.now();
        match self.folder.read(&path) {
            Ok(Some((bytes, stamp))) => {
                let entry = Entry::of(self.scope, &path, &bytes, stamp, read_at);
                let same = self.history.latest(path.as_str()) == Some(entry.version.as_str());
                self.know(&path, Some(entry));
                Ok((!same).then_some(Found { path, after: Some(bytes) }))
            }
            Ok(None) => {
                self.know(&path, None);
                let was = self.history.latest(path.as_str()).is_some_and(|latest| latest != GONE);
                Ok(was.then_some(Found { path, after: None }))
            }
            Err(why) => {
                // List an unreadable file as such; a link or a pipe is not a note and has no stamp.
                let stamp = self.folder.stamp(&path).ok().flatten();
                let entry = stamp
                    .map(|stamp| Entry::unreadable(self.scope, &path, stamp, &why.to_string()));
                self.know(&path, entry);
                Ok(None)
            }
        }
    }

    fn know(&mut self, path: &NotePath, entry: Option<Entry>) {
        let line = entry.as_ref().map(|entry| entry.line.clone());
        let before = match entry {
            Some(entry) => self.inventory.insert(path.clone(), entry),
            None => self.inventory.remove(path),
        };
        // The line covers everything the index shows, except the titles of insights.
        let insights = self.scope == Scope::Coder;
        self.index_behind |= insights || before.map(|before| before.line) != line;
    }

    /// Runs the prepare callback before the first write.
    pub fn prepare_history(&self) -> Result<()> {
        if self.history.exists() {
            return Ok(());
        }
        prepared(self.prepare.as_ref(), &self.folder.full(""))
    }

    fn record(&mut self, now: Millis, found: &[Found]) -> Result<()> {
        self.prepare_history()?;
        let authors = self.authors(found)?;
        let by = outside();
        let mut befores: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        if found.len() <= COMPARED_MAX {
            for found in found {
                if self.history.latest(found.path.as_str()).is_some_and(|latest| latest != GONE) {
                    let last = self.history.last_content(found.path.as_str())?;
                    befores.extend(last.map(|content| (found.path.as_str(), content)));
                }
            }
        }
        let happened: Vec<Happened<'_>> = found
            .iter()
            .map(|found| Happened {
                path: found.path.as_str(),
                by: authors.get(found.path.as_str()).unwrap_or(&by),
                existed: self.history.latest(found.path.as_str()).is_some_and(|at| at != GONE),
                before: befores.get(found.path.as_str()).map(Vec::as_slice),
                after: found.after.as_deref(),
            })
            .collect();
        self.history.append(now, &happened).map(drop)
    }
}

impl Shelf {
    /// Finds the authors of changes that were made through Tome after all: a write that was
    /// interrupted, or a file that again holds an earlier version written through Tome.
    fn authors(&self, found: &[Found]) -> Result<HashMap<String, Author>> {
        let mut authors = HashMap::new();
        if let Some(pending) = pending::read(self.history.folder()) {
            let paths = found.iter().map(|found| found.path.as_str());
            let covered = paths.filter(|path| pending.covers(path));
            authors.extend(covered.map(|path| (path.to_owned(), pending.author())));
        }
        let mut versions = HashMap::new();
        for found in found {
            let path = found.path.as_str();
            let is_known = self.history.latest(path).is_some();
            if let Some(bytes) = found.after.as_ref().filter(|_| is_known) {
                versions.insert(path, version_of(bytes));
            }
        }
        versions.retain(|path, _| !authors.contains_key(*path));
        if !versions.is_empty() {
            for (path, who) in self.history.authors_of(&versions)? {
                authors.insert(path, Author { who, tool: "reverted".to_owned() });
            }
        }
        Ok(authors)
    }
}

/// The author of changes that Tome finds on disk.
pub(crate) fn outside() -> Author {
    Author { who: Who::Outside, tool: "edited".to_owned() }
}

pub(crate) struct Locked(File);

/// Locks a file, with a timeout.
fn wait_for(file: File, since: Instant) -> std::io::Result<Locked> {
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked(file)),
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

impl Drop for Locked {
    fn drop(&mut self) {
        // Another handle of the file stays open, so closing this one would not release the lock.
        let _ = self.0.unlock();
    }
}

/// Opens the file to lock: the folder itself, so that all users of it share one lock whatever their
/// home; if a folder cannot be locked, a file beside the history.
fn lock_file(folder: &Folder, history: &Path) -> Result<File> {
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
    make_private(history).map_err(NotebookError::file("create", history))?;
    append_to(&path).map_err(NotebookError::file("open", &path))
}
