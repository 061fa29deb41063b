//! The files of a desk: the notes of its notebooks and of its sessions, as they are now.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use tome_finder::{Entry, Filter, Source, Words};
use tome_model::{Millis, Scope};
use tome_notebook::{Notebook, OVERVIEW};

use super::Keeper;
use super::desk::{Desk, DeskOf};
use super::entries::{self, NoteText};
use super::follow::projects_of;
use super::pages::Page;
use crate::{EngineError, Whose, home};

/// Sessions whose files are looked at, those changed last first.
const SESSIONS_MAX: usize = 2_000;
/// Files of one session.
const FILES_A_SESSION_MAX: usize = 500;
/// Forms that are remembered, of all projects together; without them, they are read again.
const FORMS_MAX: usize = 20_000;
/// A folder that has not changed for so long is listed once.
const LISTED_AFTER: Duration = Duration::from_secs(3);
/// A file of a session that is longer is not read whole.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileFound {
    pub page: Page,
    /// What it is called.
    pub name: String,
    pub modified: Millis,
}

impl FileFound {
    /// What kind of thing it is.
    pub(crate) fn source(&self) -> Source {
        match self.page {
            Page::Detail { .. } => Source::Detail,
            Page::Insight { .. } => Source::Insight,
            Page::Node { .. } | Page::Grip { .. } | Page::Note { .. } => Source::Note,
        }
    }

    /// Whether it is asked for.
    pub(crate) fn is_wanted(&self, filter: &Filter) -> bool {
        let of_session = |session: &String| match &self.page {
            Page::Detail { folder, .. } => *folder == home::session_name(session),
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

/// Overviews that are as Tome made them: forms that nobody has filled in, and that say nothing. They are
/// known by the names of their pages, which change with the file, so that each is read once.
#[derive(Default)]
pub(crate) struct Forms(Mutex<HashSet<String>>);

impl Forms {
    fn has(&self, page: &Page, at: &Path, bytes: u64) -> bool {
        if !page.is_overview() || bytes != OVERVIEW.len() as u64 {
            return false;
        }
        let name = page.name();
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return true;
        }
        let is_form = fs::read(at).is_ok_and(|text| text == OVERVIEW.as_bytes());
        if is_form {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= FORMS_MAX {
                known.clear();
            }
            known.insert(name);
        }
        is_form
    }
}

/// The names in folders that have not changed for a while: most sessions are over, and every question
/// looks at all of them.
#[derive(Default)]
pub(crate) struct Listings(Mutex<HashMap<PathBuf, Listing>>);

struct Listing {
    /// When the folder was changed last.
    changed: u128,
    /// When it was first seen so.
    seen: Instant,
    /// What is in it, once it was listed so long after that a later change would have shown: some
    /// disks know the time of a change only to seconds.
    names: Option<Vec<String>>,
}

impl Listings {
    fn of(&self, folder: &Path, changed: u128) -> Vec<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(folder).filter(|known| known.changed == changed);
        if let Some(names) = known.and_then(|known| known.names.clone()) {
            return names;
        }
        let seen = known.map_or_else(Instant::now, |known| known.seen);
        let listed = names(folder, |entry| entry.file_name().into_string().ok());
        let names = (seen.elapsed() > LISTED_AFTER).then(|| listed.clone());
        if all.len() >= FORMS_MAX {
            all.clear();
        }
        all.insert(folder.to_owned(), Listing { changed, seen, names });
        listed
    }
}

/// Every file of a desk.
pub(super) fn files_of(keeper: &Keeper, desk: &Desk) -> Result<Vec<FileFound>, EngineError> {
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
            session_files(&project, &folder.join("sessions"), keeper, &mut files);
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
) -> Result<Vec<FileFound>, EngineError> {
    let found = notebook.list()?.into_iter().map(|note| FileFound {
        page: page(note.path, note.version),
        name: note.name,
        modified: note.modified,
    });
    Ok(found.collect())
}

/// The overviews and details of all sessions of a project. They are many and small: when they were
/// changed, and how long they are, stands for what they say.
fn session_files(project: &str, sessions: &Path, keeper: &Keeper, files: &mut Vec<FileFound>) {
    let (forms, listings) = (&keeper.forms, &keeper.listings);
    let mut folders: Vec<(u128, String)> = names(sessions, |entry| {
        let changed = nanos(&fs::metadata(entry.path().join("working-memory/detail")).ok()?);
        Some((changed, entry.file_name().into_string().ok()?))
    });
    folders.sort_unstable_by(|a, b| b.cmp(a));
    for (changed, folder) in folders.into_iter().take(SESSIONS_MAX) {
        let memory = sessions.join(&folder).join("working-memory");
        let file = |path: String, at: &Path| {
            // What a link leads to is somebody else's.
            let meta = fs::symlink_metadata(at).ok().filter(fs::Metadata::is_file)?;
            if meta.len() > FILE_BYTES_MAX || !path.ends_with(".md") {
                return None;
            }
            let version = format!("{}-{}", nanos(&meta), meta.len());
            let (project, folder) = (project.to_owned(), folder.clone());
            let name = path.trim_end_matches(".md").trim_start_matches("detail/").to_owned();
            let modified = modified(&meta);
            let page = Page::Detail { project, folder, path, version };
            (!forms.has(&page, at, meta.len())).then_some(FileFound { page, name, modified })
        };
        files.extend(file("overview.md".to_owned(), &memory.join("overview.md")));
        let detail = memory.join("detail");
        for name in listings.of(&detail, changed) {
            files.extend(file(format!("detail/{name}"), &detail.join(&name)));
        }
    }
}

/// What a folder has of some kind, in the order of the names; nothing if it cannot be read.
fn names<T>(folder: &Path, keep: impl Fn(&fs::DirEntry) -> Option<T>) -> Vec<T> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<fs::DirEntry> =
        entries.flatten().take(100 * FILES_A_SESSION_MAX).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.iter().filter_map(keep).collect()
}

fn modified(meta: &fs::Metadata) -> Millis {
    Millis(u64::try_from(nanos(meta) / 1_000_000).unwrap_or(0))
}

fn nanos(meta: &fs::Metadata) -> u128 {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

impl Keeper {
    /// What a file becomes in the indexes: nothing if it cannot be read, or says nothing yet.
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

    /// The text of a file, if it is still the one that the page names.
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
                    .then(|| fs::read(&at).ok())
                    .flatten()
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Every file of a desk, as it is now.
    pub(crate) fn files(&self, desk: &Desk) -> Result<Vec<FileFound>, EngineError> {
        files_of(self, desk)
    }

    /// The names of the files that the indexes of a desk have.
    pub(crate) fn known_files(&self, desk: &Desk, words: &Words) -> Arc<HashSet<String>> {
        if let Some(known) = &*desk.known.read().unwrap_or_else(PoisonError::into_inner) {
            return Arc::clone(known);
        }
        let named = words.named().unwrap_or_default().into_iter().map(|(name, _)| name);
        let is_file = |name: &String| Page::parse(name).is_some_and(|page| page.is_file());
        Arc::new(named.filter(is_file).collect())
    }

    /// What a file is called: its first heading, else its path.
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

    /// Where a file of a session lies.
    fn session_file(&self, project: &str, folder: &str, path: &str) -> Option<PathBuf> {
        let home = self.stores.projects().known_folder(project)?;
        Some(home::sessions_in(&home).join(folder).join("working-memory").join(path))
    }
}
