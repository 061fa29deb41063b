//! Applies changes: first everything that can fail, then the history, then the renames.
//!
//! A rejected change, or one for which the disk has no space, leaves nothing behind. A killed
//! process leaves each note with its old or its new content; the next access repairs the index.

use std::collections::BTreeSet;

use tome_model::{Clock, Millis, SystemClock};

use crate::folder::{Folder, Keep, Staged, Stamp};
use crate::history::{GONE, Happened, History, pending, version_of};
use crate::inventory::Entry;
use crate::path::NotePath;
use crate::shelf::{Shelf, outside};
use crate::{Author, NotebookError, Result, index};

/// A planned change to one note.
pub(crate) struct Change {
    pub path: NotePath,
    /// Content on disk; `None` if the note does not exist.
    pub before: Option<Vec<u8>>,
    /// New content; `None` to delete the note.
    pub after: Option<Vec<u8>>,
}

impl Shelf {
    /// Applies changes and updates the index. The caller holds the lock and has detected outside
    /// edits. Writes come before deletions, so that a moved note always exists in one place.
    pub fn commit(&mut self, by: &Author, now: Millis, mut changes: Vec<Change>) -> Result<()> {
        changes.retain(|change| change.before != change.after);
        if !changes.is_empty() && self.unrecorded {
            self.notice(now, true)?;
        }
        changes.sort_by_key(|change| change.after.is_none());
        if !changes.is_empty() {
            self.prepare_history()?;
        }
        let undo = self.enter(&changes);
        match self.make(by, now, &changes, &undo) {
            Ok(()) => {
                self.restamp(&changes);
                // The history exists from now on, and with it the queue for the lock.
                self.open_turn();
                Ok(())
            }
            Err(failed) => {
                for (path, entry) in undo {
                    match entry {
                        Some(entry) => self.inventory.insert(path, entry),
                        None => self.inventory.remove(&path),
                    };
                }
                self.forget();
                Err(failed)
            }
        }
    }

    fn make(
        &mut self,
        by: &Author,
        now: Millis,
        changes: &[Change],
        undo: &[(NotePath, Option<Entry>)],
    ) -> Result<()> {
        let Self { scope, folder, inventory, history, built, index_behind, .. } = self;
        let mut staged = Vec::new();
        for change in changes {
            if let Some(after) = &change.after {
                staged.push(folder.stage(&change.path, after, Keep::Synced)?);
            }
        }
        let wanted = match undo {
            [(path, old)] if !*index_behind => {
                built.respliced(*scope, inventory, path, old.as_ref())
            }
            _ => None,
        };
        let wanted = wanted.unwrap_or_else(|| index::build(*scope, inventory));
        let rebuild = built.prepare(folder, wanted)?;
        let edited = outside();
        let happened = happened(history, by, &edited, changes);
        let by_hand = rebuild.by_hand.iter().map(|(path, bytes)| Happened {
            path: path.as_str(),
            by: &edited,
            existed: true,
            before: None,
            after: Some(bytes),
        });
        let happened: Vec<Happened<'_>> = by_hand.chain(happened).collect();
        if !changes.is_empty() {
            pending::begin(history.folder(), by, changes.iter().map(|change| change.path.as_str()));
        }
        let appended = match happened.is_empty() {
            true => None,
            false => match history.append(now, &happened) {
                Ok(appended) => Some(appended),
                Err(failed) => {
                    pending::end(history.folder());
                    return Err(failed);
                }
            },
        };
        let mut landed = Landed::default();
        let made = check_unchanged(folder, changes)
            .and_then(|()| land(folder, staged, changes, &mut landed));
        if let Err(failed) = made {
            if landed.count > 0 {
                let path = changes.first().map(|change| change.path.to_string());
                let (path, cause) = (path.unwrap_or_default(), Box::new(failed));
                return Err(NotebookError::Unsure { path, cause });
            }
            if let Some(appended) = &appended {
                history.take_back(appended);
            }
            pending::end(history.folder());
            return Err(failed);
        }
        pending::end(history.folder());
        keep_surprises(history, by, now, changes, &landed.surprises)?;
        // The notes are safe; if the index cannot be moved into place, the next access repairs it.
        *index_behind = built.land(folder, rebuild).is_err();
        if *index_behind {
            built.doubt_all();
        }
        Ok(())
    }

    /// Applies changes to the inventory. Returns the previous entries.
    fn enter(&mut self, changes: &[Change]) -> Vec<(NotePath, Option<Entry>)> {
        let mut undo = Vec::new();
        for change in changes {
            let before = match &change.after {
                Some(after) => {
                    let stamp = Stamp::expected(after.len());
                    let now = SystemClock.now();
                    let entry = Entry::of(self.scope, &change.path, after, stamp, now);
                    self.inventory.insert(change.path.clone(), entry)
                }
                None => self.inventory.remove(&change.path),
            };
            undo.push((change.path.clone(), before));
        }
        undo
    }

    /// Updates the stamps after the files have been moved into place.
    fn restamp(&mut self, changes: &[Change]) {
        for change in changes {
            let stamp = self.folder.stamp(&change.path).ok().flatten();
            if let (Some(entry), Some(stamp)) = (self.inventory.get_mut(&change.path), stamp) {
                entry.stamp = stamp;
                entry.settled = false;
            }
        }
    }
}

/// Builds the history records of the changes. Content about to be overwritten or deleted is
/// recorded first, whatever its origin.
fn happened<'c>(
    history: &History,
    by: &'c Author,
    outside: &'c Author,
    changes: &'c [Change],
) -> Vec<Happened<'c>> {
    let mut happened = Vec::new();
    for change in changes {
        let (path, before) = (change.path.as_str(), change.before.as_deref());
        let latest = history.latest(path);
        if before.is_some_and(|before| latest != Some(version_of(before).as_str())) {
            let existed = latest.is_some_and(|latest| latest != GONE);
            happened.push(Happened { path, by: outside, existed, before: None, after: before });
        }
        let (existed, after) = (before.is_some(), change.after.as_deref());
        happened.push(Happened { path, by, existed, before, after });
    }
    happened
}

/// The changes moved into place so far.
#[derive(Default)]
struct Landed {
    count: usize,
    /// Overwritten content that differs from the change's `before`: saved in the last moment.
    surprises: Vec<(NotePath, Vec<u8>)>,
}

impl Landed {
    fn add(&mut self, change: &Change, replaced: Option<Vec<u8>>) {
        self.count += 1;
        if replaced.is_some() && replaced != change.before {
            self.surprises.extend(replaced.map(|bytes| (change.path.clone(), bytes)));
        }
    }
}

/// Records last-moment saves by other programs as versions of their own, followed by the change
/// that overwrote them.
fn keep_surprises(
    history: &mut History,
    by: &Author,
    now: Millis,
    changes: &[Change],
    surprises: &[(NotePath, Vec<u8>)],
) -> Result<()> {
    if surprises.is_empty() {
        return Ok(());
    }
    let edited = outside();
    let mut happened = Vec::new();
    for (path, bytes) in surprises {
        let change = changes.iter().find(|change| change.path == *path);
        let after = change.and_then(|change| change.after.as_deref());
        let path = path.as_str();
        let edit = Happened { path, by: &edited, existed: true, before: None, after: Some(bytes) };
        happened.extend([edit, Happened { path, by, existed: true, before: None, after }]);
    }
    history.append(now, &happened).map(drop)
}

/// Rejects changes to files that were saved meanwhile: editors take no lock, and syncing takes long
/// enough for one to save.
fn check_unchanged(folder: &Folder, changes: &[Change]) -> Result<()> {
    for change in changes {
        let found = folder.read(&change.path)?.map(|(bytes, _)| bytes);
        if found != change.before {
            let version = |bytes: &Option<Vec<u8>>| {
                bytes.as_deref().map_or_else(|| GONE.to_owned(), version_of)
            };
            return Err(NotebookError::Changed {
                path: change.path.to_string(),
                expected: version(&change.before),
                found: version(&found),
            });
        }
    }
    Ok(())
}

/// Moves the changes into place. `landed` counts them and collects last-moment saves.
fn land(
    folder: &Folder,
    staged: Vec<Staged<'_>>,
    changes: &[Change],
    landed: &mut Landed,
) -> Result<()> {
    let written = changes.iter().filter(|change| change.after.is_some());
    for (staged, change) in staged.into_iter().zip(written) {
        landed.add(change, staged.land()?);
    }
    for change in changes.iter().filter(|change| change.after.is_none()) {
        landed.add(change, folder.remove(&change.path)?);
        folder.remove_empty_above(&change.path);
    }
    let above = |change: &Change| {
        let above = change.path.as_str().rsplit_once('/').map_or("", |(above, _)| above);
        above.to_owned()
    };
    let mut folders: BTreeSet<String> = changes.iter().map(above).collect();
    if changes.iter().any(|change| change.after.is_none()) {
        // A folder that became empty was removed with its last note.
        folders.insert(String::new());
    }
    folders.iter().try_for_each(|name| folder.sync_folder(name))
}
