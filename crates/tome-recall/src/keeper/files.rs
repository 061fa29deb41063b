//! The files of an index set: notes of its notebooks and sessions.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::UNIX_EPOCH;

use tome_finder::{Entry, Filter, Source};
use tome_model::{Millis, Scope};
use tome_notebook::Notebook;

use super::Keeper;
use super::desk::{Desk, DeskOf, Index, KnownFiles};
use super::entries::{self, NoteText};
use super::follow::projects_of;
use super::pages::Page;
use super::sessions::FILE_BYTES_MAX;
use crate::RecallError;
use tome_home::{FinalLink, Whose, layout, read_regular};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileFound {
    pub page: Page,
    /// Display name.
    pub name: String,
    pub modified: Millis,
}

impl FileFound {
    /// Identifies a state of the file by page and modification time. Content alone is not enough,
    /// because a file may return to earlier content, and hits show the time.
    pub(crate) fn stamp(&self) -> String {
        stamp(&self.page.name(), self.modified)
    }

    pub(crate) fn source(&self) -> Source {
        match self.page {
            Page::Detail { .. } => Source::Detail,
            Page::Insight { .. } => Source::Insight,
            Page::Node { .. } | Page::Grip { .. } | Page::Note { .. } => Source::Note,
        }
    }

    /// Returns whether a filter admits it.
    pub(crate) fn is_wanted(&self, filter: &Filter) -> bool {
        let of_session = |session: &String| match &self.page {
            Page::Detail { folder, .. } => *folder == layout::session_name(session),
            _ => false,
        };
        let of_project = |root: &String| match &self.page {
            Page::Detail { project, .. } | Page::Note { project, .. } => project == root,
            _ => true,
        };
        (filter.sources.is_empty() || filter.sources.contains(&self.source()))
            && filter.session.as_ref().is_none_or(of_session)
            && filter.project.as_ref().is_none_or(of_project)
            && filter.agents.is_empty()
            && filter.since.is_none_or(|since| self.modified >= since)
            && filter.until.is_none_or(|until| self.modified < until)
    }
}

pub(super) fn stamp(name: &str, modified: Millis) -> String {
    format!("{name} {}", modified.0)
}

pub(super) fn name_in(stamp: &str) -> &str {
    stamp.rsplit_once(' ').map_or(stamp, |(name, _)| name)
}

/// Every file of a desk.
pub(super) fn files_of(keeper: &Keeper, desk: &Desk) -> Result<Vec<FileFound>, RecallError> {
    if desk.of == DeskOf::Coder {
        let whose = Whose { scope: Scope::Coder, cwd: None, session: None };
        return notes(&*keeper.notebooks.open(&whose)?, |path, version| Page::Insight {
            path,
            version,
        });
    }
    let mut files = Vec::new();
    for project in projects_of(keeper, desk) {
        let notebook = keeper.notebooks.open(&of_project(&project))?;
        files.extend(notes(&notebook, |path, version| Page::Note {
            project: project.clone(),
            path,
            version,
        })?);
        if let Some(folder) = keeper.stores.projects().known_folder(&project) {
            files.extend(keeper.sessions.files(&project, &layout::sessions_in(&folder)));
        }
    }
    Ok(files)
}

pub(crate) fn of_project(root: &str) -> Whose {
    Whose { scope: Scope::Project, cwd: Some(root.to_owned()), session: None }
}

fn notes(
    notebook: &Notebook,
    page: impl Fn(String, String) -> Page,
) -> Result<Vec<FileFound>, RecallError> {
    let found = notebook.list()?.into_iter().map(|note| FileFound {
        page: page(note.path, note.version),
        name: note.name,
        modified: note.modified,
    });
    Ok(found.collect())
}

pub(super) fn modified(meta: &fs::Metadata) -> Millis {
    Millis(u64::try_from(nanos(meta) / 1_000_000).unwrap_or(0))
}

pub(super) fn nanos(meta: &fs::Metadata) -> u128 {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

impl Keeper {
    /// Index entries of a file; none if it cannot be read or has no content yet.
    pub(super) fn entries_of_file(&self, file: &FileFound) -> Vec<Entry> {
        let Some(text) = self.text_of_file(&file.page) else { return Vec::new() };
        entries::of_note(&NoteText {
            page: &file.page,
            name: &file.name,
            modified: file.modified,
            session: match &file.page {
                Page::Detail { folder, .. } => folder,
                _ => "",
            },
            text: &text,
        })
    }

    /// Reads a file if its version still matches the page.
    pub(crate) fn text_of_file(&self, page: &Page) -> Option<String> {
        let read = |whose: &Whose, path: &str, version: &str| {
            let note = self.notebooks.open(whose).ok()?.read(path).ok()?;
            (note.version == version).then_some(note.text)
        };
        match page {
            Page::Node { .. } | Page::Grip { .. } => None,
            Page::Note { project, path, version } => read(&of_project(project), path, version),
            Page::Insight { path, version } => {
                let coder = Whose { scope: Scope::Coder, cwd: None, session: None };
                read(&coder, path, version)
            }
            Page::Detail { project, folder, path, version } => {
                let at = self.session_file(project, folder, path)?;
                let meta = fs::symlink_metadata(&at).ok().filter(fs::Metadata::is_file)?;
                let is_same = format!("{}-{}", nanos(&meta), meta.len()) == *version;
                is_same
                    .then(|| read_regular(&at, FinalLink::Refuse, FILE_BYTES_MAX).ok())
                    .flatten()
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Every file of a desk, as it is now.
    pub(crate) fn files(&self, desk: &Desk) -> Result<Vec<FileFound>, RecallError> {
        files_of(self, desk)
    }

    /// Lists the files of an index set, with a description of those that are missing: unreadable
    /// notebooks, or more files than are served.
    pub(crate) fn reachable_files(&self, desk: &Desk) -> (Vec<FileFound>, Vec<String>) {
        let mut problems = Vec::new();
        let files = self.files(desk).unwrap_or_else(|error| {
            problems.push(error.explained());
            Vec::new()
        });
        for whose in self.notebooks_of(desk) {
            let notebook = self.notebooks.open(&whose);
            let left_out = notebook.map_err(|_| ()).and_then(|it| it.left_out().map_err(|_| ()));
            problems.extend(left_out.ok().flatten());
        }
        (files, problems)
    }

    fn notebooks_of(&self, desk: &Desk) -> Vec<Whose> {
        match desk.of {
            DeskOf::Coder => vec![Whose { scope: Scope::Coder, cwd: None, session: None }],
            _ => projects_of(self, desk).iter().map(|project| of_project(project)).collect(),
        }
    }

    /// Removes the watches on an index set's sessions while nothing queries them.
    pub(crate) fn forget_sessions(&self, desk: &Desk) {
        for project in projects_of(self, desk) {
            if let Some(folder) = self.stores.projects().known_folder(&project) {
                self.sessions.forget(&layout::sessions_in(&folder));
            }
        }
    }

    /// Title of a file: its first heading, or its path.
    pub(crate) fn title_of_file(&self, page: &Page, text: &str) -> String {
        let path = match page {
            Page::Note { path, .. } | Page::Detail { path, .. } | Page::Insight { path, .. } => {
                path
            }
            Page::Node { id, .. } => id.as_str(),
            Page::Grip { id, .. } => id.as_str(),
        };
        let heading = text.lines().find_map(|line| line.strip_prefix("# "));
        heading.map_or_else(|| path.to_owned(), |heading| heading.trim().to_owned())
    }

    fn session_file(&self, project: &str, folder: &str, path: &str) -> Option<PathBuf> {
        let home = self.stores.projects().known_folder(project)?;
        Some(layout::sessions_in(&home).join(folder).join("working-memory").join(path))
    }
}

/// Stamps of the files in an index of pages. Read from the index once; from then on, updates
/// maintain the list.
pub(crate) fn known_files<T: Index>(
    known: &RwLock<Option<KnownFiles<T>>>,
    index: &Arc<T>,
) -> Arc<HashSet<String>> {
    let stamps_in =
        |known: &Option<KnownFiles<T>>| Some(Arc::clone(known.as_ref()?.stamps_in(index)?));
    if let Some(stamps) = stamps_in(&known.read().unwrap_or_else(PoisonError::into_inner)) {
        return stamps;
    }
    let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(stamps) = stamps_in(&known) {
        return stamps;
    }
    let named = index.named().unwrap_or_default().into_iter();
    let is_file = |name: &str| Page::parse(name).is_some_and(|page| page.is_file());
    let files = named.filter(|(name, _)| is_file(name));
    let stamps = Arc::new(files.map(|(name, at)| stamp(&name, at)).collect::<HashSet<_>>());
    *known = Some(KnownFiles::new(index, Arc::clone(&stamps)));
    stamps
}

/// Publishes the list of files in an index after an update, for use by queries.
pub(super) fn show_known<T>(
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
