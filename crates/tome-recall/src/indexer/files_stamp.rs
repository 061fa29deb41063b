//! Whether the files of an index set have changed, without opening its notebook. A query over hundreds
//! of projects would spend most of its time on unchanged notebooks.

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, PoisonError};

use tome_home::layout;

use super::Indexer;
use super::files::{list_projects, project_notebook};
use super::index_set::{FilesStamp, IndexSet};
use super::indexable_file::{IndexableFile, modified_nanos};

/// Files beyond this number are listed by opening the notebook.
const ENTRIES_MAX: usize = 2_000;

/// Sets of stamps, as the indexes have them.
type KnownStamps<'a> = [&'a Arc<HashSet<String>>];

struct StampBuilder {
    hasher: DefaultHasher,
    files: usize,
    entries_left: usize,
}

impl Indexer {
    /// Stamp of an index set's files; `None` if they are too many or cannot be read.
    pub(crate) fn files_stamp(&self, index_set: &IndexSet) -> Option<FilesStamp> {
        let mut stamp =
            StampBuilder { hasher: DefaultHasher::new(), files: 0, entries_left: ENTRIES_MAX };
        for project in list_projects(self, index_set) {
            let notebook = self.notebooks.folder(&project_notebook(&project)).ok()?;
            stamp.add_folder(&notebook)?;
            if let Some(folder) = self.stores.projects().find_folder(&project) {
                stamp.add_sessions(&layout::sessions_dir(&folder))?;
            }
        }
        Some(FilesStamp { hash: stamp.hasher.finish(), files: stamp.files })
    }

    /// Whether the indexes with these stamps have all files of the index set as they are.
    pub(crate) fn has_unchanged_files(
        &self,
        index_set: &IndexSet,
        known: &KnownStamps<'_>,
    ) -> bool {
        let Some(stamp) = self.files_stamp(index_set) else { return false };
        if stamp.files == 0 {
            return known.iter().all(|known| known.is_empty());
        }
        let indexed = index_set.indexed_files.lock().unwrap_or_else(PoisonError::into_inner);
        indexed.is_some_and(|(at, count)| {
            at == stamp && known.iter().all(|known| known.len() == count)
        })
    }
}

impl IndexSet {
    /// Remembers that the indexes have all of these files, if they do.
    pub(crate) fn record_files_stamp(
        &self,
        stamp: FilesStamp,
        files: &[IndexableFile],
        known: &KnownStamps<'_>,
    ) {
        let is_complete = known.iter().all(|known| {
            known.len() == files.len() && files.iter().all(|file| known.contains(&file.stamp()))
        });
        *self.indexed_files.lock().unwrap_or_else(PoisonError::into_inner) =
            is_complete.then_some((stamp, files.len()));
    }
}

impl StampBuilder {
    fn add_path(&mut self, path: &Path) -> Option<()> {
        self.entries_left = self.entries_left.checked_sub(1)?;
        if let Ok(meta) = fs::symlink_metadata(path) {
            self.files += usize::from(meta.is_file());
            (path, modified_nanos(&meta), meta.len()).hash(&mut self.hasher);
        }
        Some(())
    }

    /// Adds a folder with everything in it, except hidden folders.
    fn add_folder(&mut self, folder: &Path) -> Option<()> {
        let Ok(entries) = fs::read_dir(folder) else { return Some(()) };
        let mut entries: Vec<fs::DirEntry> =
            entries.flatten().take(self.entries_left + 1).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            self.add_path(&entry.path())?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add_folder(&entry.path())?;
            }
        }
        Some(())
    }

    fn add_sessions(&mut self, sessions: &Path) -> Option<()> {
        let Ok(entries) = fs::read_dir(sessions) else { return Some(()) };
        let mut folders: Vec<_> =
            entries.flatten().take(self.entries_left + 1).map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let memory = folder.join("working-memory");
            if memory.is_dir() {
                self.add_path(&memory)?;
                self.add_path(&memory.join("detail"))?;
                self.add_path(&memory.join("overview.md"))?;
            }
        }
        Some(())
    }
}
