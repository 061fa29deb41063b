//! The files of an index set: notes of its notebooks and sessions.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tome_finder::IndexEntry;
use tome_model::Scope;
use tome_notebook::Notebook;

use super::Indexer;
use super::entries::{self, NoteText};
use super::index_set::{IndexOwner, IndexSet, KnownFiles};
use super::index_slot::SearchIndex;
use super::indexable_file::{FILE_BYTES_MAX, IndexableFile, modified_nanos, stamp};
use super::pages::PageKey;
use crate::RecallError;
use tome_home::{FinalLink, NotebookOwner, layout, read_regular};

/// Every file of an index set.
pub(super) fn list_files(
    indexer: &Indexer,
    index_set: &IndexSet,
) -> Result<Vec<IndexableFile>, RecallError> {
    if index_set.owner == IndexOwner::Coder {
        let whose = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
        return list_notes(&*indexer.notebooks.open(&whose)?, |path, version| PageKey::Lesson {
            path,
            version,
        });
    }
    let mut files = Vec::new();
    for project in list_projects(indexer, index_set) {
        let owner = project_notebook(&project);
        if indexer.notebooks.has_files(&owner)? {
            let notebook = indexer.notebooks.open(&owner)?;
            files.extend(list_notes(&notebook, |path, version| PageKey::Note {
                project: project.clone(),
                path,
                version,
            })?);
        }
        if let Some(folder) = indexer.stores.projects().find_folder(&project) {
            files
                .extend(indexer.session_files.list_files(&project, &layout::sessions_dir(&folder)));
        }
    }
    Ok(files)
}

pub(super) fn list_projects(indexer: &Indexer, index_set: &IndexSet) -> Vec<String> {
    match &index_set.owner {
        IndexOwner::Project(root) => vec![root.clone()],
        IndexOwner::Unified => {
            indexer.stores.projects().all().into_iter().map(|(root, _)| root).collect()
        }
        IndexOwner::Coder => Vec::new(),
    }
}

pub(crate) fn project_notebook(root: &str) -> NotebookOwner {
    NotebookOwner { scope: Scope::Project, cwd: Some(root.to_owned()), session: None }
}

fn list_notes(
    notebook: &Notebook,
    page: impl Fn(String, String) -> PageKey,
) -> Result<Vec<IndexableFile>, RecallError> {
    let found = notebook.list_notes()?.into_iter().map(|note| IndexableFile {
        page: page(note.path, note.version),
        name: note.name,
        modified: note.modified,
    });
    Ok(found.collect())
}

impl Indexer {
    /// Index entries of a file; none if it cannot be read or has no content yet.
    pub(crate) fn build_file_entries(&self, file: &IndexableFile) -> Vec<IndexEntry> {
        let Some(text) = self.read_file_text(&file.page) else { return Vec::new() };
        entries::note_entries(&NoteText {
            page: &file.page,
            name: &file.name,
            modified: file.modified,
            session: match &file.page {
                PageKey::Detail { folder, .. } => folder,
                _ => "",
            },
            text: &text,
        })
    }

    /// Reads a file if its version still matches the page.
    pub(crate) fn read_file_text(&self, page: &PageKey) -> Option<String> {
        let read = |whose: &NotebookOwner, path: &str, version: &str| {
            let note = self.notebooks.open(whose).ok()?.read_note(path).ok()?;
            (note.version == version).then_some(note.text)
        };
        match page {
            PageKey::Node { .. } | PageKey::Grip { .. } => None,
            PageKey::Note { project, path, version } => {
                read(&project_notebook(project), path, version)
            }
            PageKey::Lesson { path, version } => {
                let coder = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
                read(&coder, path, version)
            }
            PageKey::Detail { project, folder, path, version } => {
                let at = self.session_file_path(project, folder, path)?;
                let meta = fs::symlink_metadata(&at).ok().filter(fs::Metadata::is_file)?;
                let is_same = format!("{}-{}", modified_nanos(&meta), meta.len()) == *version;
                is_same
                    .then(|| read_regular(&at, FinalLink::Refuse, FILE_BYTES_MAX).ok())
                    .flatten()
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Every file of an index set, as it is now.
    pub(crate) fn list_files(
        &self,
        index_set: &IndexSet,
    ) -> Result<Vec<IndexableFile>, RecallError> {
        list_files(self, index_set)
    }

    /// Whether the indexes of a set differ from its files. Vectors of a remote embedder do not count.
    pub(crate) fn has_changed_files(&self, index_set: &IndexSet) -> bool {
        let Ok(files) = self.list_files(index_set) else { return false };
        let (bm25, vectors) = index_set.pages.open_existing(&self.embedder);
        let vectors = vectors.filter(|_| !self.embedder.is_remote());
        let known = [
            bm25.map(|bm25| load_known_files(&index_set.known_in_bm25, &bm25)),
            vectors.map(|vectors| load_known_files(&index_set.known_in_vectors, &vectors)),
        ];
        let is_complete = |known: &Option<Arc<HashSet<String>>>| match known {
            Some(known) => {
                known.len() == files.len() && files.iter().all(|file| known.contains(&file.stamp()))
            }
            None => files.is_empty(),
        };
        let [bm25, vectors] = &known;
        !(is_complete(bm25) && (self.embedder.is_remote() || is_complete(vectors)))
    }

    /// Lists the files of an index set, with a description of those that are missing: unreadable
    /// notebooks, or more files than are served.
    pub(crate) fn list_readable_files(
        &self,
        index_set: &IndexSet,
    ) -> (Vec<IndexableFile>, Vec<String>) {
        let mut problems = Vec::new();
        let files = self.list_files(index_set).unwrap_or_else(|error| {
            problems.push(error.explained());
            Vec::new()
        });
        for whose in self.list_notebooks(index_set) {
            if !self.notebooks.has_files(&whose).unwrap_or(true) {
                continue;
            }
            let notebook = self.notebooks.open(&whose);
            let left_out = notebook
                .map_err(|_| ())
                .and_then(|it| it.describe_unserved_files().map_err(|_| ()));
            problems.extend(left_out.ok().flatten());
        }
        (files, problems)
    }

    fn list_notebooks(&self, index_set: &IndexSet) -> Vec<NotebookOwner> {
        match index_set.owner {
            IndexOwner::Coder => {
                vec![NotebookOwner { scope: Scope::Coder, cwd: None, session: None }]
            }
            _ => list_projects(self, index_set)
                .iter()
                .map(|project| project_notebook(project))
                .collect(),
        }
    }

    /// Removes the watches on an index set's sessions while nothing queries them.
    pub(crate) fn unwatch_sessions(&self, index_set: &IndexSet) {
        for project in list_projects(self, index_set) {
            if let Some(folder) = self.stores.projects().find_folder(&project) {
                self.session_files.unwatch(&layout::sessions_dir(&folder));
            }
        }
    }

    /// Title of a file: its first heading, or its path.
    pub(crate) fn file_title(&self, page: &PageKey, text: &str) -> String {
        let path = match page {
            PageKey::Note { path, .. }
            | PageKey::Detail { path, .. }
            | PageKey::Lesson { path, .. } => path,
            PageKey::Node { id, .. } => id.as_str(),
            PageKey::Grip { id, .. } => id.as_str(),
        };
        let heading = text.lines().find_map(|line| line.strip_prefix("# "));
        heading.map_or_else(|| path.to_owned(), |heading| heading.trim().to_owned())
    }

    fn session_file_path(&self, project: &str, folder: &str, path: &str) -> Option<PathBuf> {
        let home = self.stores.projects().find_folder(project)?;
        Some(layout::sessions_dir(&home).join(folder).join("working-memory").join(path))
    }
}

/// Stamps of the files in an index of pages. Read from the index once; from then on, updates
/// maintain the list.
pub(crate) fn load_known_files<T: SearchIndex>(
    cache: &RwLock<Option<KnownFiles<T>>>,
    index: &Arc<T>,
) -> Arc<HashSet<String>> {
    let stamps_in =
        |cache: &Option<KnownFiles<T>>| Some(Arc::clone(cache.as_ref()?.stamps_in(index)?));
    if let Some(stamps) = stamps_in(&cache.read().unwrap_or_else(PoisonError::into_inner)) {
        return stamps;
    }
    let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(stamps) = stamps_in(&cache) {
        return stamps;
    }
    let named = index.list_named().unwrap_or_default().into_iter();
    let is_file = |name: &str| PageKey::parse(name).is_some_and(|page| page.is_file());
    let files = named.filter(|(name, _)| is_file(name));
    let stamps = Arc::new(files.map(|(name, at)| stamp(&name, at)).collect::<HashSet<_>>());
    *cache = Some(KnownFiles::new(index, Arc::clone(&stamps)));
    stamps
}

/// Publishes the list of files in an index after an update, for use by queries.
pub(super) fn publish_known_files<T>(
    shown: &RwLock<Option<KnownFiles<T>>>,
    index: Option<&Arc<T>>,
    known: &HashSet<String>,
) {
    let Some(index) = index else { return };
    let mut shown = shown.write().unwrap_or_else(PoisonError::into_inner);
    let stamps = shown.as_ref().and_then(|shown| shown.stamps_in(index));
    if stamps.is_none_or(|stamps| **stamps != *known) {
        *shown = Some(KnownFiles::new(index, Arc::new(known.clone())));
    }
}
