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

use tome_notebook::{Changed, OVERVIEW, Watch};

use super::files::{FileFound, modified, nanos};
use super::pages::Page;
use tome_home::{FinalLink, read_regular};

/// Maximum number of sessions to list, most recently changed first.
const SESSIONS_MAX: usize = 2_000;
const FILES_A_SESSION_MAX: usize = 500;
/// Maximum number of cached blank overviews over all projects; beyond that they are read again.
const FORMS_MAX: usize = 20_000;
/// A folder listing is cached once the folder has been unchanged for this long.
const LISTED_AFTER: Duration = Duration::from_secs(3);
/// Longer files are not read.
pub(super) const FILE_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of projects watched at a time, because the system limits the number of watches.
const WATCHED_MAX: usize = 16;
/// Time before setting up a failed watch again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Session files of the projects queried so far.
#[derive(Default)]
pub(crate) struct Sessions {
    watched: Mutex<HashMap<PathBuf, Watched>>,
    looks: Looks,
}

/// The sessions of a project, with a watch if one could be set up.
struct Watched {
    watch: Option<Watch>,
    found: HashMap<String, Vec<FileFound>>,
    begun: Instant,
    asked: Instant,
}

/// Caches that save reading.
#[derive(Default)]
struct Looks {
    forms: Forms,
    listings: Listings,
}

impl Sessions {
    pub(super) fn files(&self, project: &str, sessions: &Path) -> Vec<FileFound> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = watched.get_mut(sessions)
            && known.is_followed(project, sessions, &self.looks)
        {
            return known.files();
        }
        let folders = folders_of(sessions);
        let is_hopeless =
            |one: &Watched| one.watch.is_none() && one.begun.elapsed() < TRIED_AGAIN_AFTER;
        let before = watched.remove(sessions).filter(is_hopeless);
        let watch = match before {
            Some(_) => None,
            None => watch_over(sessions, &folders),
        };
        let look = |name: String| {
            let files = self.looks.session(project, sessions, &name);
            (name, files)
        };
        let now = Instant::now();
        let now = Watched {
            watch,
            found: folders.into_iter().map(look).collect(),
            begun: before.map_or(now, |before| before.begun),
            asked: now,
        };
        let files = now.files();
        if watched.len() >= WATCHED_MAX {
            let longest_ago = watched.iter().min_by_key(|(_, one)| one.asked);
            let longest_ago = longest_ago.map(|(folder, _)| folder.clone());
            longest_ago.and_then(|folder| watched.remove(&folder));
        }
        watched.insert(sessions.to_owned(), now);
        files
    }

    pub(super) fn forget(&self, sessions: &Path) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(sessions);
    }
}

impl Watched {
    fn files(&self) -> Vec<FileFound> {
        self.found.values().flatten().cloned().collect()
    }

    /// Lists changed sessions again. Returns `false` if everything has to be listed again.
    fn is_followed(&mut self, project: &str, sessions: &Path, looks: &Looks) -> bool {
        let Some(Changed::Files(changed)) = self.watch.as_mut().map(Watch::take) else {
            return false;
        };
        let names: BTreeSet<&str> =
            changed.iter().filter_map(|path| path.split_once('/')).map(|(name, _)| name).collect();
        for name in names {
            self.found.insert(name.to_owned(), looks.session(project, sessions, name));
        }
        self.asked = Instant::now();
        true
    }
}

/// Sessions with a notebook, most recently changed first.
fn folders_of(sessions: &Path) -> Vec<String> {
    let mut folders: Vec<(u128, String)> = names(sessions, |entry| {
        let detail = fs::metadata(entry.path().join("working-memory/detail"));
        Some((detail.map_or(0, |detail| nanos(&detail)), entry.file_name().into_string().ok()?))
    });
    folders.sort_unstable_by(|a, b| b.cmp(a));
    folders.into_iter().take(SESSIONS_MAX).map(|(_, folder)| folder).collect()
}

/// Watches these sessions; to be called before listing them. `None` if not all of them can be
/// watched.
fn watch_over(sessions: &Path, folders: &[String]) -> Option<Watch> {
    let mut watch = Watch::over(sessions)?;
    watch.add("");
    for folder in folders {
        let detail = format!("{folder}/working-memory/detail");
        let is_made = || sessions.join(&detail).is_dir();
        if !is_made() {
            // The session has no notebook yet.
            watch.add(folder);
        }
        if is_made() {
            watch.add(&detail);
            watch.add(&format!("{folder}/working-memory"));
        }
        if !watch.sees_all() {
            return None;
        }
    }
    Some(watch)
}

impl Looks {
    fn session(&self, project: &str, sessions: &Path, folder: &str) -> Vec<FileFound> {
        let memory = sessions.join(folder).join("working-memory");
        let file = |path: String, at: &Path| {
            // Links are not followed: their targets are not ours.
            let meta = fs::symlink_metadata(at).ok().filter(fs::Metadata::is_file)?;
            if meta.len() > FILE_BYTES_MAX || !path.ends_with(".md") {
                return None;
            }
            let version = format!("{}-{}", nanos(&meta), meta.len());
            let (project, folder) = (project.to_owned(), folder.to_owned());
            let name = path.trim_end_matches(".md").trim_start_matches("detail/").to_owned();
            let modified = modified(&meta);
            let page = Page::Detail { project, folder, path, version };
            (!self.forms.has(&page, at, meta.len())).then_some(FileFound { page, name, modified })
        };
        let detail = memory.join("detail");
        let Ok(changed) = fs::metadata(&detail).map(|detail| nanos(&detail)) else {
            return Vec::new();
        };
        let mut files: Vec<FileFound> =
            file("overview.md".to_owned(), &memory.join("overview.md")).into_iter().collect();
        for name in self.listings.of(&detail, changed) {
            files.extend(file(format!("detail/{name}"), &detail.join(&name)));
        }
        files
    }
}

/// Collects folder entries in the order of their names; empty if the folder cannot be read.
fn names<T>(folder: &Path, keep: impl Fn(&fs::DirEntry) -> Option<T>) -> Vec<T> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<fs::DirEntry> =
        entries.flatten().take(100 * FILES_A_SESSION_MAX).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.iter().filter_map(keep).collect()
}

/// Overviews that are still the blank template, by page name. The name changes with the file, so
/// each is read only once.
#[derive(Default)]
struct Forms(Mutex<HashSet<String>>);

impl Forms {
    fn has(&self, page: &Page, at: &Path, bytes: u64) -> bool {
        if !page.is_overview() || bytes != OVERVIEW.len() as u64 {
            return false;
        }
        let name = page.name();
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return true;
        }
        let is_form = read_regular(at, FinalLink::Refuse, bytes)
            .is_ok_and(|text| text == OVERVIEW.as_bytes());
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

/// Cached listings of folders that have not changed for a while: most sessions are over, and every
/// query needs all of them.
#[derive(Default)]
struct Listings(Mutex<HashMap<PathBuf, Listing>>);

struct Listing {
    /// Modification time of the folder.
    changed: u128,
    /// When that modification time was first seen.
    seen: Instant,
    /// The entries, once listed late enough that any further change would have changed the
    /// modification time: some disks store it in whole seconds.
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

    fn seen(sessions: &Sessions, root: &Path) -> Vec<String> {
        let files = sessions.files("/p", root);
        let mut seen: Vec<String> = files
            .iter()
            .map(|file| match &file.page {
                Page::Detail { folder, path, version, .. } => {
                    let (_, bytes) = version.split_once('-').unwrap();
                    format!("{folder} {path} {bytes}")
                }
                _ => panic!("{file:?}"),
            })
            .collect();
        seen.sort();
        seen
    }

    #[test]
    fn whatever_changes_counts_at_once() {
        let root = tempfile::tempdir().unwrap();
        let (root, sessions) = (root.path(), Sessions::default());
        assert!(seen(&sessions, root).is_empty());
        write(root, "a/working-memory/detail/x.md", "12");
        write(root, "a/working-memory/overview.md", OVERVIEW);
        write(root, "b/messages.jsonl", "{}\n");
        assert_eq!(seen(&sessions, root), ["a detail/x.md 2"]);
        // In place, as an editor may write: the folder's modification time does not change.
        write(root, "a/working-memory/detail/x.md", "123");
        write(root, "a/working-memory/overview.md", "mine");
        assert_eq!(seen(&sessions, root), ["a detail/x.md 3", "a overview.md 4"]);
        // A notebook created later, and a new session.
        write(root, "b/working-memory/detail/y.md", "1");
        write(root, "c/working-memory/detail/z.md", "1");
        assert_eq!(seen(&sessions, root).len(), 4);
        write(root, "b/working-memory/detail/y.md", "12");
        write(root, "b/working-memory/detail/w.md", "1");
        fs::remove_file(root.join("a/working-memory/detail/x.md")).unwrap();
        fs::remove_dir_all(root.join("c")).unwrap();
        let last = ["a overview.md 4", "b detail/w.md 1", "b detail/y.md 2"];
        assert_eq!(seen(&sessions, root), last);
        assert_eq!(seen(&sessions, root), last);
        sessions.forget(root);
        assert_eq!(seen(&sessions, root), last);
    }

    #[test]
    fn no_more_than_so_many_projects_are_watched() {
        let roots: Vec<_> = (0..WATCHED_MAX + 3).map(|_| tempfile::tempdir().unwrap()).collect();
        let sessions = Sessions::default();
        for root in roots.iter().chain(&roots) {
            write(root.path(), "a/working-memory/detail/x.md", "1");
            assert_eq!(seen(&sessions, root.path()), ["a detail/x.md 1"]);
        }
        assert_eq!(sessions.watched.lock().unwrap().len(), WATCHED_MAX);
    }
}
