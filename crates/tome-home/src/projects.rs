//! The known projects: one folder per project, with a `project.toml` for what the folder's name
//! cannot express.
//!
//! ```toml
//! root = "/home/dev/app"                      # the truth; the folder's name is only a reading aid
//! remote = "git@example.com:dev/app.git"
//! aliases = ["/home/dev/app-hotfix"]          # worktrees seen, so that they are known once removed
//! created = "2026-11-15T09:30:00.000Z"
//! name = "app"                                # given by a person
//! path = "/srv/app"                           # where it is now; `root` stays, because events name it
//! folders = ["/srv/app", "/home/dev/clone"]   # other roots that belong to it
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tome_model::{InvalidInput, Millis};

use crate::durable::sync_folder;
use crate::folder_path::{guess_repository_of_worktree, is_foreign_path, normalize_path};
use crate::io_timeout::TimedCalls;
use crate::project_file::{self, LoadedRecord, ProjectRecord};
use crate::root_path::check_root;
use crate::{Damage, GitLocation, Home, HomeError, LinkedWorktree, ProjectLocation, git, project};

/// Worktrees remembered per project; the oldest are dropped first.
const ALIASES_MAX: usize = 64;

/// Working directories whose project is cached.
const CACHE_MAX: usize = 4096;

/// Timeout for file system calls on a project's folder. A local disk answers in microseconds, a
/// busy one in seconds, a network mount whose server is gone never.
const FS_TIMEOUT: Duration = Duration::from_secs(15);

/// Timeout for reading the git files of a folder: an event waits for it before it is stored.
const GIT_TIMEOUT: Duration = Duration::from_millis(50);

/// The projects that have a folder in the home.
#[derive(Debug)]
pub struct Projects {
    home: Home,
    known: Mutex<ProjectTable>,
    /// For folders that may be on a mount that hangs.
    timed_calls: TimedCalls,
    /// Reads of git files, whose time is short: one that was late must not refuse the project's lookup.
    git_calls: TimedCalls,
}

enum ProjectLookup {
    Found(ProjectLocation),
    /// The folder does not exist. `above` is the repository above it, or else its own path.
    Missing {
        above: String,
    },
    NoAnswer,
}

#[derive(Debug, Default)]
pub(crate) struct ProjectTable {
    /// By root.
    pub(crate) projects: HashMap<String, ProjectEntry>,
    /// Worktree to root.
    aliases: HashMap<String, String>,
    /// Other roots of projects that were moved or merged.
    redirects: HashMap<String, String>,
    /// The projects of existing working directories.
    located: HashMap<String, ProjectLocation>,
    /// Folders whose `project.toml` is damaged, so that their root is unknown.
    damaged: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
pub(crate) struct ProjectEntry {
    pub(crate) folder: PathBuf,
    pub(crate) record: ProjectRecord,
}

impl Projects {
    /// Reads all project folders. Restores damaged `project.toml` files; a folder whose file cannot
    /// be restored is hidden.
    pub fn load(home: &Home) -> Self {
        let mut table = ProjectTable::default();
        let folders = std::fs::read_dir(home.projects()).into_iter().flatten().flatten();
        for folder in folders.map(|entry| entry.path()) {
            match project_file::load_record(&folder) {
                LoadedRecord::Sound(record) => table.insert(ProjectEntry { folder, record }),
                LoadedRecord::Damaged => table.damaged.push(folder),
                LoadedRecord::Unfinished => {}
            }
        }
        Self {
            home: home.clone(),
            known: Mutex::new(table),
            timed_calls: TimedCalls::default(),
            git_calls: TimedCalls::default(),
        }
    }

    /// Returns the roots of all known projects with their folders, sorted by root.
    pub fn all(&self) -> Vec<(String, PathBuf)> {
        let known = self.lock();
        let mut all: Vec<_> = known
            .projects
            .values()
            .map(|entry| (entry.record.root.clone(), entry.folder.clone()))
            .collect();
        all.sort();
        all
    }

    /// Folders whose `project.toml` is damaged and whose root could not be recovered.
    pub(crate) fn damaged_folders(&self) -> Vec<PathBuf> {
        self.lock().damaged.clone()
    }

    /// Restores a damaged folder's root if it matches the folder's name and no other project has
    /// it.
    pub(crate) fn restore_root(&self, folder: &Path, root: &str) -> Result<bool, HomeError> {
        let mut known = self.lock();
        if !project_file::matches_folder(folder, root) || known.projects.contains_key(root) {
            return Ok(false);
        }
        let Some(record) = project_file::record_from_root(root.to_owned()) else {
            return Ok(false);
        };
        project_file::restore_record(folder, &record)?;
        known.damaged.retain(|damaged| damaged != folder);
        known.insert(ProjectEntry { folder: folder.to_owned(), record });
        Ok(true)
    }

    /// Reports project files that are damaged, or were and have been restored.
    pub(crate) fn find_damage(&self) -> Vec<Damage> {
        let mut damage = Vec::new();
        for folder in self.damaged_folders() {
            let file = folder.join(project_file::FILE);
            damage.push(Damage {
                problem: format!("{} is damaged: its project is not shown", file.display()),
                remedy:
                    "write the line `root = \"/path/of/the/project\"` into it, then `tome stop`"
                        .to_owned(),
            });
        }
        for (_, folder) in self.all() {
            let kept = folder.join(project_file::DAMAGED);
            if kept.exists() {
                let file = folder.join(project_file::FILE);
                damage.push(Damage {
                    problem: format!("{} was damaged and has been restored", file.display()),
                    remedy: format!("check it, then delete {}", kept.display()),
                });
            }
        }
        damage
    }

    /// Returns the project root of a working directory. `hint` is the root that the hook found
    /// while the folder existed. A folder that is gone belongs to the worktree once seen there, to
    /// the repository still above it, or else is its own project. The result never depends on which
    /// other projects are known, so the order of events does not matter. If the file system does
    /// not answer, guesses in the same way: good enough for reading; use `resolve_project`
    /// before storing.
    pub fn resolve_project_or_guess(&self, cwd: &str, hint: Option<&str>) -> String {
        self.resolve_project(cwd, hint).unwrap_or_else(|_| {
            let known = self.lock();
            known.redirect(known.find_worktree_root(cwd).unwrap_or_else(|| normalize_path(cwd)))
        })
    }

    /// Like `resolve_project_or_guess`, but fails if the file system does not answer and there is
    /// no hint: an event stored under a guessed project would stay there.
    pub fn resolve_project(&self, cwd: &str, hint: Option<&str>) -> Result<String, HomeError> {
        // Look up the folder even with a hint: this finds its worktree.
        let root = match (hint, self.look_up_project(cwd)) {
            (Some(root), _) => Ok(normalize_path(root)),
            (None, ProjectLookup::Found(found)) => Ok(found.root.to_string_lossy().into_owned()),
            (None, ProjectLookup::Missing { above }) => {
                Ok(self.lock().find_worktree_root(cwd).unwrap_or(above))
            }
            (None, ProjectLookup::NoAnswer) => Err(timeout_error("find the project of", cwd)),
        };
        root.map(|root| self.lock().redirect(root))
    }

    /// Returns the root that identifies a project: its own, or that of the project it belongs to now.
    pub fn canonical_root(&self, root: &str) -> String {
        self.lock().redirect(root.to_owned())
    }

    /// Reads the branch, commit and worktree that a folder is on. `None` outside a repository, or if
    /// the file system does not answer in time.
    pub fn read_git_location(&self, cwd: &str) -> Option<GitLocation> {
        let folder = Some(PathBuf::from(cwd)).filter(|_| !is_foreign_path(cwd))?;
        self.git_calls.run(cwd, GIT_TIMEOUT, move || GitLocation::read(&folder)).flatten()
    }

    /// Finds the linked worktree that a folder is in. `None` outside one, or if the file system does
    /// not answer in time.
    pub fn find_linked_worktree(&self, cwd: &str) -> Option<LinkedWorktree> {
        let folder = Some(PathBuf::from(cwd)).filter(|_| !is_foreign_path(cwd))?;
        let find = move || git::find_linked_worktree(&folder);
        self.git_calls.run(cwd, GIT_TIMEOUT, find).flatten()
    }

    /// Runs a call on a project's files; fails if the file system does not answer in time.
    pub(crate) fn run_with_timeout<T: Send + 'static>(
        &self,
        root: &str,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HomeError> {
        self.timed_calls.run(root, FS_TIMEOUT, call).ok_or_else(|| timeout_error("read", root))
    }

    /// Whether the project of a working directory is cached.
    pub fn is_cached(&self, cwd: &str) -> bool {
        self.lock().located.contains_key(cwd)
    }

    fn look_up_project(&self, cwd: &str) -> ProjectLookup {
        if let Some(found) = self.lock().located.get(cwd) {
            return ProjectLookup::Found(found.clone());
        }
        if is_foreign_path(cwd) {
            return ProjectLookup::Missing { above: resolve_missing_folder(cwd) };
        }
        let folder = cwd.to_owned();
        let read_git_files = move || {
            project::locate_project(Path::new(&folder))
                .ok_or_else(|| resolve_missing_folder(&folder))
        };
        match self.timed_calls.run(cwd, FS_TIMEOUT, read_git_files) {
            Some(Ok(found)) => {
                self.lock().cache_location(cwd, &found);
                ProjectLookup::Found(found)
            }
            Some(Err(above)) => ProjectLookup::Missing { above },
            None => ProjectLookup::NoAnswer,
        }
    }

    /// Returns the project of a working directory if it has a folder in the home.
    pub fn find_known_project(&self, cwd: &str) -> Option<String> {
        let root = self.resolve_project_or_guess(cwd, None);
        self.lock().projects.contains_key(&root).then_some(root)
    }

    /// Whether a folder that does not exist belonged to a known project: it was its folder or one of
    /// its worktrees, or it was below one of these, which is gone too.
    pub fn had_folder(&self, folder: &Path) -> bool {
        let text = folder.to_string_lossy();
        if is_foreign_path(&text) {
            return self.find_known_project(&text).is_some();
        }
        let is_known = |path: &Path| {
            let path = path.to_string_lossy();
            self.lock().knows_folder(&normalize_path(&path))
        };
        // Projects are known by paths without links.
        let existing =
            folder.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        let real = existing.map(|(above, real)| match folder.strip_prefix(above) {
            Ok(rest) => real.join(rest),
            Err(_) => real,
        });
        [Some(folder.to_path_buf()), real].into_iter().flatten().any(|folder| {
            is_known(&folder)
                || folder.ancestors().skip(1).take_while(|above| !above.exists()).any(is_known)
        })
    }

    /// Returns the folder of a known project.
    pub fn find_folder(&self, root: &str) -> Option<PathBuf> {
        let known = self.lock();
        known.projects.get(&known.redirect(root.to_owned())).map(|entry| entry.folder.clone())
    }

    /// Returns the folder of a project, or the one it would get; creates nothing.
    pub fn planned_folder(&self, root: &str) -> PathBuf {
        self.find_folder(root).unwrap_or_else(|| self.choose_folder(root))
    }

    /// Returns the folder of a project; creates it on first use.
    pub fn ensure_folder(&self, root: &str, now: Millis) -> Result<PathBuf, HomeError> {
        if let Some(folder) = self.find_folder(root) {
            return Ok(folder);
        }
        // Read the project's files before taking the lock.
        let remote = self.read_origin_url(root);
        let mut table = self.lock();
        if let Some(entry) = table.projects.get(root) {
            return Ok(entry.folder.clone());
        }
        let folder = self.choose_folder(root);
        std::fs::create_dir_all(&folder).map_err(HomeError::file("create", &folder))?;
        let projects = self.home.projects();
        sync_folder(&projects).map_err(HomeError::file("sync", &projects))?;
        let record = ProjectRecord {
            root: root.to_owned(),
            remote,
            created: now.to_string(),
            ..ProjectRecord::default()
        };
        project_file::save_record(&folder, &record)?;
        table.insert(ProjectEntry { folder: folder.clone(), record });
        Ok(folder)
    }

    /// Returns the record of a project, for a backup.
    pub fn export_record(&self, root: &str) -> Option<serde_json::Value> {
        let table = self.lock();
        serde_json::to_value(&table.projects.get(root)?.record).ok()
    }

    /// Adds a project of a backup, or the paths that the backup knows it by. Returns whether the
    /// project is new here.
    pub fn import_record(
        &self,
        record: &serde_json::Value,
        now: Millis,
    ) -> Result<bool, HomeError> {
        let record = ProjectRecord::deserialize(record)
            .map_err(|error| InvalidInput::invalid("project", error.to_string()))?;
        check_root(&record.root)?;
        let is_new = self.find_folder(&record.root).is_none();
        self.ensure_folder(&record.root, now)?;
        let mut table = self.lock();
        let Some(entry) = table.projects.get_mut(&record.root) else { return Ok(is_new) };
        let mut entry = entry.clone();
        entry.record.merge(record, is_new);
        project_file::save_record(&entry.folder, &entry.record)?;
        table.insert(entry);
        Ok(is_new)
    }

    /// Returns the origin of a project's repository; `None` if the file system does not answer.
    fn read_origin_url(&self, root: &str) -> Option<String> {
        let folder = PathBuf::from(root);
        self.timed_calls.run(root, FS_TIMEOUT, move || git::read_origin_url(&folder)).flatten()
    }

    /// Remembers the worktree of a working directory, so that its events are still assigned to this
    /// project after the worktree has been removed.
    pub fn record_worktree(&self, root: &str, cwd: &str) -> Result<(), HomeError> {
        let mut table = self.lock();
        // Neither a project named by a payload nor a session that moved here makes a worktree part
        // of it.
        let belongs_here = |found: &&ProjectLocation| {
            table.redirect(found.root.to_string_lossy().into_owned()) == root
        };
        let found = table.located.get(cwd).filter(belongs_here);
        let Some(worktree) = found.and_then(|found| found.worktree.as_ref()) else {
            return Ok(());
        };
        let worktree = worktree.to_string_lossy().into_owned();
        if table.aliases.contains_key(&worktree) {
            return Ok(());
        }
        let Some(entry) = table.projects.get_mut(root) else {
            return Ok(());
        };
        entry.record.aliases.push(worktree.clone());
        let surplus = entry.record.aliases.len().saturating_sub(ALIASES_MAX);
        entry.record.aliases.drain(..surplus);
        project_file::save_record(&entry.folder, &entry.record)?;
        table.aliases.insert(worktree, root.to_owned());
        Ok(())
    }

    /// Returns the folder of the project's name or, if another project has it, that name with a
    /// hash of the root.
    fn choose_folder(&self, root: &str) -> PathBuf {
        let name = project::project_folder_name(root);
        let folder = self.home.projects().join(&name);
        // A folder without a record was left by an interrupted creation and is reused.
        let file = folder.join(project_file::FILE);
        if file.exists()
            && project_file::read_record(&file).is_none_or(|record| record.root != root)
        {
            return self.home.projects().join(format!("{name}.{}", project::path_hash(root, 8)));
        }
        folder
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ProjectTable> {
        // Every change under this lock is a single insertion, so a panic elsewhere leaves it
        // consistent.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProjectTable {
    /// Follows a root that belongs to another project.
    fn redirect(&self, root: String) -> String {
        self.redirects.get(&root).cloned().unwrap_or(root)
    }

    /// Whether this is the folder of a project, a former one or a worktree.
    fn knows_folder(&self, path: &str) -> bool {
        let is_current = |entry: &ProjectEntry| entry.record.path.as_deref() == Some(path);
        self.projects.contains_key(path)
            || self.aliases.contains_key(path)
            || self.redirects.contains_key(path)
            || self.projects.values().any(is_current)
    }

    pub(crate) fn insert(&mut self, entry: ProjectEntry) {
        for folder in &entry.record.folders {
            self.redirects.insert(folder.clone(), entry.record.root.clone());
        }
        for alias in &entry.record.aliases {
            self.aliases.insert(alias.clone(), entry.record.root.clone());
        }
        self.projects.insert(entry.record.root.clone(), entry);
    }

    fn cache_location(&mut self, cwd: &str, found: &ProjectLocation) {
        if self.located.len() >= CACHE_MAX {
            self.located.clear();
        }
        self.located.insert(cwd.to_owned(), found.clone());
    }

    fn find_worktree_root(&self, cwd: &str) -> Option<String> {
        Path::new(cwd).ancestors().find_map(|above| self.aliases.get(above.to_str()?).cloned())
    }
}

fn timeout_error(action: &'static str, folder: &str) -> HomeError {
    let problem = format!(
        "no answer within {} s; if it is on a network mount that is gone, bring it back or unmount it",
        FS_TIMEOUT.as_secs()
    );
    let problem = std::io::Error::new(std::io::ErrorKind::TimedOut, problem);
    HomeError::file(action, Path::new(folder))(problem)
}

/// Returns the project root of a working directory, from the disk alone.
pub fn resolve_project_root(cwd: &str) -> String {
    match Some(cwd)
        .filter(|cwd| !is_foreign_path(cwd))
        .map(Path::new)
        .and_then(project::locate_project)
    {
        Some(found) => found.root.to_string_lossy().into_owned(),
        None => resolve_missing_folder(cwd),
    }
}

fn resolve_missing_folder(cwd: &str) -> String {
    if is_foreign_path(cwd) {
        return guess_repository_of_worktree(&normalize_path(cwd)).to_owned();
    }
    let repository = project::locate_missing_folder(Path::new(cwd));
    repository.map_or_else(
        || guess_repository_of_worktree(&normalize_path(cwd)).to_owned(),
        |found| found.root.to_string_lossy().into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_belongs_to_the_repository_above_it() {
        assert_eq!(resolve_missing_folder("/gone/app/.worktrees/4"), "/gone/app");
    }

    /// Such a folder must not be looked up below the folder of the process.
    #[cfg(not(windows))]
    #[test]
    fn a_folder_of_windows_is_a_project_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let projects = Projects::load(&Home::at(folder.path()));
        for (cwd, root) in [
            ("C:\\Users\\dev\\app", "C:\\Users\\dev\\app"),
            ("c:/Users/dev/app/", "C:\\Users\\dev\\app"),
            ("c:\\Users\\dev\\site", "C:\\Users\\dev\\site"),
            ("C:\\Users\\dev\\app\\.claude\\worktrees\\x", "C:\\Users\\dev\\app"),
        ] {
            assert_eq!(projects.resolve_project(cwd, None).unwrap(), root);
            assert_eq!(resolve_project_root(cwd), root);
            assert_eq!(projects.read_git_location(cwd), None);
            projects.ensure_folder(root, Millis(1)).unwrap();
        }
        projects.ensure_folder("D:\\old\\app", Millis(1)).unwrap();
        let mut names: Vec<String> = projects.list().into_iter().map(|one| one.name).collect();
        names.sort();
        assert_eq!(names, ["dev/app", "old/app", "site"]);
    }

    /// The branch is read within 50 ms, which a busy machine may not keep.
    #[test]
    fn a_late_read_of_git_files_does_not_refuse_the_lookup() {
        let folder = tempfile::tempdir().unwrap();
        let projects = Projects::load(&Home::at(folder.path().join("home")));
        let cwd = folder.path().to_str().unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let late = projects.git_calls.run(cwd, Duration::from_millis(1), move || held.recv());
        assert!(late.is_none());
        assert!(matches!(projects.look_up_project(cwd), ProjectLookup::Found(_)));
        drop(release);
    }
}
