//! Lists the overviews and details of a project's sessions.
//!
//! They are many and small, and every query needs all of them, so modification time and length
//! stand for their content. Where file system notifications are available, only changed sessions
//! are listed again; elsewhere all are.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tome_notebook::{FolderChanges, FolderWatch, OVERVIEW_TEMPLATE};

use super::indexable_file::{FILE_BYTES_MAX, IndexableFile, modified_at, modified_nanos};
use super::pages::PageKey;
use tome_home::{FinalLink, read_regular};

/// Maximum number of sessions to list, most recently changed first.
const SESSIONS_MAX: usize = 2_000;
const FILES_PER_SESSION_MAX: usize = 500;
/// Maximum number of cached blank overviews over all projects; beyond that they are read again.
const BLANK_OVERVIEWS_MAX: usize = 20_000;
/// A folder listing is cached once the folder has been unchanged for this long.
const LISTING_CACHE_AFTER: Duration = Duration::from_secs(3);
/// Maximum number of projects watched at a time, because the system limits the number of watches.
const WATCHED_MAX: usize = 16;
/// Time before setting up a failed watch again.
const WATCH_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Session files of the projects queried so far.
#[derive(Default)]
pub(crate) struct SessionFiles {
    watched: Mutex<HashMap<PathBuf, WatchedSessions>>,
    caches: SessionCaches,
}

/// The sessions of a project, with a watch if one could be set up.
struct WatchedSessions {
    watch: Option<FolderWatch>,
    files: HashMap<String, Vec<IndexableFile>>,
    started_at: Instant,
    queried_at: Instant,
}

/// Caches that save reading.
#[derive(Default)]
struct SessionCaches {
    blank_overviews: BlankOverviews,
    listings: ListingCache,
}

impl SessionFiles {
    pub(super) fn list_files(&self, project: &str, sessions: &Path) -> Vec<IndexableFile> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = watched.get_mut(sessions)
            && known.refresh(project, sessions, &self.caches)
        {
            return known.list_files();
        }
        let folders = list_session_folders(sessions);
        let is_hopeless = |one: &WatchedSessions| {
            one.watch.is_none() && one.started_at.elapsed() < WATCH_RETRY_AFTER
        };
        let before = watched.remove(sessions).filter(is_hopeless);
        let watch = match before {
            Some(_) => None,
            None => watch_sessions(sessions, &folders),
        };
        let list = |name: String| {
            let files = self.caches.list_session_files(project, sessions, &name);
            (name, files)
        };
        let now = Instant::now();
        let now = WatchedSessions {
            watch,
            files: folders.into_iter().map(list).collect(),
            started_at: before.map_or(now, |before| before.started_at),
            queried_at: now,
        };
        let files = now.list_files();
        if watched.len() >= WATCHED_MAX {
            let longest_ago = watched.iter().min_by_key(|(_, one)| one.queried_at);
            let longest_ago = longest_ago.map(|(folder, _)| folder.clone());
            longest_ago.and_then(|folder| watched.remove(&folder));
        }
        watched.insert(sessions.to_owned(), now);
        files
    }

    pub(super) fn unwatch(&self, sessions: &Path) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(sessions);
    }
}

impl WatchedSessions {
    fn list_files(&self) -> Vec<IndexableFile> {
        self.files.values().flatten().cloned().collect()
    }

    /// Lists changed sessions again. Returns `false` if everything has to be listed again.
    fn refresh(&mut self, project: &str, sessions: &Path, caches: &SessionCaches) -> bool {
        let Some(FolderChanges::Files(changed)) =
            self.watch.as_mut().map(FolderWatch::take_changes)
        else {
            return false;
        };
        let names: BTreeSet<&str> =
            changed.iter().filter_map(|path| path.split_once('/')).map(|(name, _)| name).collect();
        for name in names {
            self.files.insert(name.to_owned(), caches.list_session_files(project, sessions, name));
        }
        self.queried_at = Instant::now();
        true
    }
}

/// Sessions with a notebook, most recently changed first.
fn list_session_folders(sessions: &Path) -> Vec<String> {
    let mut folders: Vec<(u128, String)> = list_folder(sessions, |entry| {
        let detail = fs::metadata(entry.path().join("working-memory/detail"));
        Some((
            detail.map_or(0, |detail| modified_nanos(&detail)),
            entry.file_name().into_string().ok()?,
        ))
    });
    folders.sort_unstable_by(|a, b| b.cmp(a));
    folders.into_iter().take(SESSIONS_MAX).map(|(_, folder)| folder).collect()
}

/// Watches these sessions; to be called before listing them. `None` if not all of them can be
/// watched.
fn watch_sessions(sessions: &Path, folders: &[String]) -> Option<FolderWatch> {
    let mut watch = FolderWatch::open(sessions)?;
    watch.add_folder("");
    for folder in folders {
        let detail = format!("{folder}/working-memory/detail");
        let is_made = || sessions.join(&detail).is_dir();
        if !is_made() {
            // The session has no notebook yet.
            watch.add_folder(folder);
        }
        if is_made() {
            watch.add_folder(&detail);
            watch.add_folder(&format!("{folder}/working-memory"));
        }
        if !watch.is_complete() {
            return None;
        }
    }
    Some(watch)
}

impl SessionCaches {
    fn list_session_files(
        &self,
        project: &str,
        sessions: &Path,
        folder: &str,
    ) -> Vec<IndexableFile> {
        let memory = sessions.join(folder).join("working-memory");
        let file = |path: String, at: &Path| {
            // Links are not followed: their targets are not ours.
            let meta = fs::symlink_metadata(at).ok().filter(fs::Metadata::is_file)?;
            if meta.len() > FILE_BYTES_MAX || !path.ends_with(".md") {
                return None;
            }
            let version = format!("{}-{}", modified_nanos(&meta), meta.len());
            let (project, folder) = (project.to_owned(), folder.to_owned());
            let name = path.trim_end_matches(".md").trim_start_matches("detail/").to_owned();
            let modified = modified_at(&meta);
            let page = PageKey::Detail { project, folder, path, version };
            (!self.blank_overviews.contains(&page, at, meta.len())).then_some(IndexableFile {
                page,
                name,
                modified,
            })
        };
        let detail = memory.join("detail");
        let Ok(changed) = fs::metadata(&detail).map(|detail| modified_nanos(&detail)) else {
            return Vec::new();
        };
        let mut files: Vec<IndexableFile> =
            file("overview.md".to_owned(), &memory.join("overview.md")).into_iter().collect();
        for name in self.listings.list(&detail, changed) {
            files.extend(file(format!("detail/{name}"), &detail.join(&name)));
        }
        files
    }
}

/// Collects folder entries in the order of their names; empty if the folder cannot be read.
fn list_folder<T>(folder: &Path, keep: impl Fn(&fs::DirEntry) -> Option<T>) -> Vec<T> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<fs::DirEntry> =
        entries.flatten().take(100 * FILES_PER_SESSION_MAX).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.iter().filter_map(keep).collect()
}

/// Overviews that are still the blank template, by page name. The name changes with the file, so
/// each is read only once.
#[derive(Default)]
struct BlankOverviews(Mutex<HashSet<String>>);

impl BlankOverviews {
    fn contains(&self, page: &PageKey, at: &Path, bytes: u64) -> bool {
        if !page.is_overview() || bytes != OVERVIEW_TEMPLATE.len() as u64 {
            return false;
        }
        let name = page.name();
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return true;
        }
        let is_form = read_regular(at, FinalLink::Refuse, bytes)
            .is_ok_and(|text| text == OVERVIEW_TEMPLATE.as_bytes());
        if is_form {
            let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if names.len() >= BLANK_OVERVIEWS_MAX {
                names.clear();
            }
            names.insert(name);
        }
        is_form
    }
}

/// Cached listings of folders that have not changed for a while: most sessions are over, and every
/// query needs all of them.
#[derive(Default)]
struct ListingCache(Mutex<HashMap<PathBuf, CachedListing>>);

struct CachedListing {
    /// Modification time of the folder.
    modified: u128,
    /// When that modification time was first seen.
    first_seen: Instant,
    /// The entries, once listed late enough that any further change would have changed the
    /// modification time: some disks store it in whole seconds.
    names: Option<Vec<String>>,
}

impl ListingCache {
    fn list(&self, folder: &Path, changed: u128) -> Vec<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(folder).filter(|known| known.modified == changed);
        if let Some(names) = known.and_then(|known| known.names.clone()) {
            return names;
        }
        let first_seen = known.map_or_else(Instant::now, |known| known.first_seen);
        let listed = list_folder(folder, |entry| entry.file_name().into_string().ok());
        let names = (first_seen.elapsed() > LISTING_CACHE_AFTER).then(|| listed.clone());
        if all.len() >= BLANK_OVERVIEWS_MAX {
            all.clear();
        }
        all.insert(folder.to_owned(), CachedListing { modified: changed, first_seen, names });
        listed
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn list_files(sessions: &SessionFiles, root: &Path) -> Vec<String> {
        let files = sessions.list_files("/p", root);
        let mut listed: Vec<String> = files
            .iter()
            .map(|file| match &file.page {
                PageKey::Detail { folder, path, version, .. } => {
                    let (_, bytes) = version.split_once('-').unwrap();
                    format!("{folder} {path} {bytes}")
                }
                _ => panic!("{file:?}"),
            })
            .collect();
        listed.sort();
        listed
    }

    #[test]
    fn every_change_to_a_file_is_listed_at_once() {
        let root = tempfile::tempdir().unwrap();
        let (root, sessions) = (root.path(), SessionFiles::default());
        assert!(list_files(&sessions, root).is_empty());
        write(root, "a/working-memory/detail/x.md", "12");
        write(root, "a/working-memory/overview.md", OVERVIEW_TEMPLATE);
        write(root, "b/messages.jsonl", "{}\n");
        assert_eq!(list_files(&sessions, root), ["a detail/x.md 2"]);
        // In place, as an editor may write: the folder's modification time does not change.
        write(root, "a/working-memory/detail/x.md", "123");
        write(root, "a/working-memory/overview.md", "mine");
        assert_eq!(list_files(&sessions, root), ["a detail/x.md 3", "a overview.md 4"]);
        // A notebook created later, and a new session.
        write(root, "b/working-memory/detail/y.md", "1");
        write(root, "c/working-memory/detail/z.md", "1");
        assert_eq!(list_files(&sessions, root).len(), 4);
        write(root, "b/working-memory/detail/y.md", "12");
        write(root, "b/working-memory/detail/w.md", "1");
        fs::remove_file(root.join("a/working-memory/detail/x.md")).unwrap();
        fs::remove_dir_all(root.join("c")).unwrap();
        let last = ["a overview.md 4", "b detail/w.md 1", "b detail/y.md 2"];
        assert_eq!(list_files(&sessions, root), last);
        assert_eq!(list_files(&sessions, root), last);
        sessions.unwatch(root);
        assert_eq!(list_files(&sessions, root), last);
    }

    #[test]
    fn the_number_of_watched_projects_is_limited() {
        let roots: Vec<_> = (0..WATCHED_MAX + 3).map(|_| tempfile::tempdir().unwrap()).collect();
        let sessions = SessionFiles::default();
        for root in roots.iter().chain(&roots) {
            write(root.path(), "a/working-memory/detail/x.md", "1");
            assert_eq!(list_files(&sessions, root.path()), ["a detail/x.md 1"]);
        }
        assert_eq!(sessions.watched.lock().unwrap().len(), WATCHED_MAX);
    }
}
