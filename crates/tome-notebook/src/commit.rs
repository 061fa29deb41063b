//! Applies changes: first everything that can fail, then the history, then the renames.
//!
//! A rejected change, or one for which the disk has no space, leaves nothing behind. A killed
//! process leaves each note with its old or its new content; the next access repairs the index.

use std::collections::BTreeSet;

use tome_model::{Clock, Millis, SystemClock};

use crate::file_stamp::FileStamp;
use crate::folder::{FileDurability, Folder, StagedFile};
use crate::history::{DELETED_VERSION, History, HistoryRecord, content_version, pending_write};
use crate::inventory::NoteEntry;
use crate::path::NotePath;
use crate::state::{NotebookState, outside_author};
use crate::{Author, NotebookError, Result, index};

/// A planned change to one note.
pub(crate) struct NoteChange {
    pub path: NotePath,
    /// Content on disk; `None` if the note does not exist.
    pub before: Option<Vec<u8>>,
    /// New content; `None` to delete the note.
    pub after: Option<Vec<u8>>,
}

impl NotebookState {
    /// Applies changes and updates the index. The caller holds the lock and has detected outside
    /// edits. Writes come before deletions, so that a moved note always exists in one place.
    pub fn commit(&mut self, by: &Author, now: Millis, mut changes: Vec<NoteChange>) -> Result<()> {
        changes.retain(|change| change.before != change.after);
        if !changes.is_empty() && self.has_unrecorded_changes {
            self.detect_changes(now, true)?;
        }
        changes.sort_by_key(|change| change.after.is_none());
        if !changes.is_empty() {
            self.prepare_first_write()?;
        }
        let undo = self.apply_to_inventory(&changes);
        match self.apply_changes(by, now, &changes, &undo) {
            Ok(()) => {
                self.refresh_stamps(&changes);
                // The history exists from now on, and with it the queue for the lock.
                self.open_queue_file();
                Ok(())
            }
            Err(failed) => {
                for (path, entry) in undo {
                    match entry {
                        Some(entry) => self.inventory.insert(path, entry),
                        None => self.inventory.remove(&path),
                    };
                }
                self.invalidate();
                Err(failed)
            }
        }
    }

    fn apply_changes(
        &mut self,
        by: &Author,
        now: Millis,
        changes: &[NoteChange],
        undo: &[(NotePath, Option<NoteEntry>)],
    ) -> Result<()> {
        let Self { scope, folder, inventory, history, built, index_changed: index_behind, .. } =
            self;
        let mut staged = Vec::new();
        for change in changes {
            if let Some(after) = &change.after {
                staged.push(folder.stage_file(&change.path, after, FileDurability::Synced)?);
            }
        }
        let wanted = match undo {
            [(path, old)] if !*index_behind => {
                built.splice_index(*scope, inventory, path, old.as_ref())
            }
            _ => None,
        };
        let wanted = wanted.unwrap_or_else(|| index::render_built_files(*scope, inventory));
        let rebuild = built.stage_rebuild(folder, wanted)?;
        let edited = outside_author();
        let happened = build_history_records(history, by, &edited, changes);
        let by_hand = rebuild.manual_edits.iter().map(|(path, bytes)| HistoryRecord {
            path: path.as_str(),
            by: &edited,
            existed: true,
            before: None,
            after: Some(bytes),
        });
        let happened: Vec<HistoryRecord<'_>> = by_hand.chain(happened).collect();
        if !changes.is_empty() {
            pending_write::write_marker(
                history.folder(),
                by,
                changes.iter().map(|change| change.path.as_str()),
            );
        }
        let appended = if happened.is_empty() {
            None
        } else {
            match history.append_records(now, &happened) {
                Ok(appended) => Some(appended),
                Err(failed) => {
                    pending_write::clear_marker(history.folder());
                    return Err(failed);
                }
            }
        };
        let mut landed = AppliedChanges::default();
        let applied = check_unchanged(folder, changes)
            .and_then(|()| move_into_place(folder, staged, changes, &mut landed));
        if let Err(failed) = applied {
            if landed.count > 0 {
                // These edits exist nowhere else; the error asks the caller to check either way.
                let _ = record_overwritten(history, by, now, changes, &landed.overwritten);
                return Err(partially_committed(changes, failed));
            }
            if let Some(appended) = &appended {
                history.undo_append(appended);
            }
            pending_write::clear_marker(history.folder());
            return Err(failed);
        }
        pending_write::clear_marker(history.folder());
        record_overwritten(history, by, now, changes, &landed.overwritten)?;
        // The notes are safe; if the index cannot be moved into place, the next access repairs it.
        *index_behind = built.apply_rebuild(folder, rebuild).is_err();
        if *index_behind {
            built.mark_all_doubtful();
        }
        Ok(())
    }

    /// Applies changes to the inventory. Returns the previous entries.
    fn apply_to_inventory(&mut self, changes: &[NoteChange]) -> Vec<(NotePath, Option<NoteEntry>)> {
        let mut undo = Vec::new();
        for change in changes {
            let before = match &change.after {
                Some(after) => {
                    let stamp = FileStamp::for_unwritten_file(after.len());
                    let now = SystemClock.now();
                    let entry = NoteEntry::from_bytes(self.scope, &change.path, after, stamp, now);
                    self.inventory.insert(change.path.clone(), entry)
                }
                None => self.inventory.remove(&change.path),
            };
            undo.push((change.path.clone(), before));
        }
        undo
    }

    /// Updates the stamps after the files have been moved into place.
    fn refresh_stamps(&mut self, changes: &[NoteChange]) {
        for change in changes {
            let stamp = self.folder.read_stamp(&change.path).ok().flatten();
            if let (Some(entry), Some(stamp)) = (self.inventory.get_mut(&change.path), stamp) {
                entry.stamp = stamp;
                entry.stamp_is_reliable = false;
            }
        }
    }
}

/// Builds the history records of the changes. Content about to be overwritten or deleted is
/// recorded first, whatever its origin.
fn build_history_records<'c>(
    history: &History,
    by: &'c Author,
    outside: &'c Author,
    changes: &'c [NoteChange],
) -> Vec<HistoryRecord<'c>> {
    let mut happened = Vec::new();
    for change in changes {
        let (path, before) = (change.path.as_str(), change.before.as_deref());
        let latest = history.latest_version(path);
        if before.is_some_and(|before| latest != Some(content_version(before).as_str())) {
            let existed = latest.is_some_and(|latest| latest != DELETED_VERSION);
            happened.push(HistoryRecord {
                path,
                by: outside,
                existed,
                before: None,
                after: before,
            });
        }
        let (existed, after) = (before.is_some(), change.after.as_deref());
        happened.push(HistoryRecord { path, by, existed, before, after });
    }
    happened
}

/// The changes moved into place so far.
#[derive(Default)]
struct AppliedChanges {
    count: usize,
    /// Overwritten content that differs from the change's `before`: saved in the last moment.
    overwritten: Vec<(NotePath, Vec<u8>)>,
}

impl AppliedChanges {
    fn record_change(&mut self, change: &NoteChange, replaced: Option<Vec<u8>>) {
        self.count += 1;
        if replaced.is_some() && replaced != change.before {
            self.overwritten.extend(replaced.map(|bytes| (change.path.clone(), bytes)));
        }
    }
}

/// The error of a change that failed after notes were moved into place.
fn partially_committed(changes: &[NoteChange], failed: NotebookError) -> NotebookError {
    let path = changes.first().map(|change| change.path.to_string()).unwrap_or_default();
    NotebookError::PartiallyCommitted { path, cause: Box::new(failed) }
}

/// Records last-moment saves by other programs as versions of their own, followed by the change
/// that overwrote them. The notes are in place by then.
fn record_overwritten(
    history: &mut History,
    by: &Author,
    now: Millis,
    changes: &[NoteChange],
    surprises: &[(NotePath, Vec<u8>)],
) -> Result<()> {
    if surprises.is_empty() {
        return Ok(());
    }
    let edited = outside_author();
    let mut happened = Vec::new();
    for (path, bytes) in surprises {
        let change = changes.iter().find(|change| change.path == *path);
        let after = change.and_then(|change| change.after.as_deref());
        let path = path.as_str();
        let edit =
            HistoryRecord { path, by: &edited, existed: true, before: None, after: Some(bytes) };
        happened.extend([edit, HistoryRecord { path, by, existed: true, before: None, after }]);
    }
    let recorded = history.append_records(now, &happened);
    recorded.map(drop).map_err(|failed| partially_committed(changes, failed))
}

/// Rejects changes to files that were saved meanwhile: editors take no lock, and syncing takes long
/// enough for one to save.
fn check_unchanged(folder: &Folder, changes: &[NoteChange]) -> Result<()> {
    for change in changes {
        let current = folder.read_file(&change.path)?.map(|(bytes, _)| bytes);
        if current != change.before {
            let version = |bytes: &Option<Vec<u8>>| {
                bytes.as_deref().map_or_else(|| DELETED_VERSION.to_owned(), content_version)
            };
            return Err(NotebookError::VersionConflict {
                path: change.path.to_string(),
                expected: version(&change.before),
                found: version(&current),
            });
        }
    }
    Ok(())
}

/// Moves the changes into place. `landed` counts them and collects last-moment saves.
fn move_into_place(
    folder: &Folder,
    staged: Vec<StagedFile<'_>>,
    changes: &[NoteChange],
    landed: &mut AppliedChanges,
) -> Result<()> {
    let written = changes.iter().filter(|change| change.after.is_some());
    for (staged, change) in staged.into_iter().zip(written) {
        landed.record_change(change, staged.exchange_into_place()?);
    }
    for change in changes.iter().filter(|change| change.after.is_none()) {
        landed.record_change(change, folder.remove_file(&change.path)?);
        folder.remove_empty_parents(&change.path);
    }
    let above = |change: &NoteChange| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The notes are in place when a last-moment save is recorded, so a failure leaves a change.
    #[test]
    fn a_save_that_cannot_be_recorded_is_reported_as_a_partial_commit() {
        let root = tempfile::tempdir().unwrap();
        let (notes, blocked) = (root.path().join("notes"), root.path().join("history"));
        let folder = Folder::create(&notes).unwrap();
        let mut state = NotebookState::open(tome_model::Scope::Project, folder, &notes, &blocked);
        let state = state.as_mut().unwrap();
        let path = NotePath::parse_for_reading("a.md").unwrap();
        let (before, after) = (None, Some(b"new\n".to_vec()));
        let changes = [NoteChange { path: path.clone(), before, after }];
        let saves = [(path, b"saved\n".to_vec())];
        // A folder stands where the history would be written.
        let _ = Folder::create(&blocked.join("history.jsonl")).unwrap();
        let by = outside_author();
        let failed = record_overwritten(&mut state.history, &by, Millis(1), &changes, &saves);
        let failed = failed.unwrap_err().to_string();
        assert!(failed.starts_with("a.md was changed, but then the disk failed"), "{failed}");
    }
}
