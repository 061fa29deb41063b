//! The projects that Tome knows: one folder each, with a `project.toml` that says what the folder's
//! name cannot.
//!
//! ```toml
//! root = "/home/dev/app"                      # the truth; the folder's name is only a reading aid
//! remote = "git@example.com:dev/app.git"
//! aliases = ["/home/dev/app-hotfix"]          # worktrees seen, so that they are known once removed
//! created = "2026-11-15T09:30:00.000Z"
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tome_model::Millis;

use crate::durable::sync_folder;
use crate::project_file::{self, Loaded, Record};
use crate::{Damage, EngineError, Home, Located, project};

/// Worktrees remembered for one project; the oldest go first.
const ALIASES_MAX: usize = 64;

/// Folders whose project is remembered in memory.
const CACHE_MAX: usize = 4096;

/// The projects that Tome knows.
#[derive(Debug)]
pub struct Projects {
    home: Home,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By root.
    projects: HashMap<String, Entry>,
    /// Worktree to root.
    aliases: HashMap<String, String>,
    /// Where working directories that exist belong.
    located: HashMap<String, Located>,
    /// Folders whose root nobody knows.
    damaged: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
struct Entry {
    folder: PathBuf,
    record: Record,
}

impl Projects {
    /// Reads what is there. A `project.toml` that is damaged is restored; one that cannot be hides its
    /// folder and nothing else.
    pub fn load(home: &Home) -> Self {
        let mut known = Known::default();
        let folders = std::fs::read_dir(home.projects()).into_iter().flatten().flatten();
        for folder in folders.map(|entry| entry.path()) {
            match project_file::load(&folder) {
                Loaded::Sound(record) => known.insert(Entry { folder, record }),
                Loaded::Damaged => known.damaged.push(folder),
                Loaded::Unfinished => {}
            }
        }
        Self { home: home.clone(), known: Mutex::new(known) }
    }

    /// The roots of all known projects and their folders, in order of their roots.
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

    /// Folders of projects whose `project.toml` is damaged, and nothing beside it names the root.
    pub(crate) fn damaged(&self) -> Vec<PathBuf> {
        self.lock().damaged.clone()
    }

    /// Gives a damaged folder its root back, if the root fits its name and is not another's.
    pub(crate) fn restore(&self, folder: &Path, root: &str) -> Result<bool, EngineError> {
        let mut known = self.lock();
        if !project_file::fits(folder, root) || known.projects.contains_key(root) {
            return Ok(false);
        }
        let Some(record) = project_file::from_root(root.to_owned()) else { return Ok(false) };
        project_file::restore(folder, &record)?;
        known.damaged.retain(|damaged| damaged != folder);
        known.insert(Entry { folder: folder.to_owned(), record });
        Ok(true)
    }

    /// Project files that are damaged, or were and have been restored.
    pub(crate) fn damage(&self) -> Vec<Damage> {
        let mut damage = Vec::new();
        for folder in self.damaged() {
            let file = folder.join(project_file::FILE);
            damage.push(Damage {
                found: format!("{} is damaged: its project is not shown", file.display()),
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
                    found: format!("{} was damaged and has been restored", file.display()),
                    remedy: format!("check it, then delete {}", kept.display()),
                });
            }
        }
        damage
    }

    /// The root of the project that a working directory belongs to. `hint` is what someone found
    /// who stood there at the time. A folder that is gone belongs to the nearest known project or
    /// worktree above it, else it is a project by itself.
    pub fn root_of(&self, cwd: &str, hint: Option<&str>) -> String {
        let found = self.find(cwd);
        match (hint, found) {
            (Some(root), _) => clean(root),
            (None, Some(found)) => found.root.to_string_lossy().into_owned(),
            (None, None) => self.lock().nearest(cwd).unwrap_or_else(|| clean(cwd)),
        }
    }

    fn find(&self, cwd: &str) -> Option<Located> {
        if let Some(found) = self.lock().located.get(cwd) {
            return Some(found.clone());
        }
        let found = project::locate(Path::new(cwd))?;
        self.lock().remember(cwd, &found);
        Some(found)
    }

    /// The known project that a working directory belongs to, if there is one.
    pub fn known_root_of(&self, cwd: &str) -> Option<String> {
        let root = self.root_of(cwd, None);
        self.lock().projects.contains_key(&root).then_some(root)
    }

    /// The folder of a project that is known.
    pub fn known_folder(&self, root: &str) -> Option<PathBuf> {
        self.lock().projects.get(root).map(|entry| entry.folder.clone())
    }

    /// The folder of a project, or the one it would get; nothing is made.
    pub fn would_be_folder(&self, root: &str) -> PathBuf {
        self.known_folder(root).unwrap_or_else(|| self.free_folder(root))
    }

    /// The folder of a project, made on first use.
    pub fn folder(&self, root: &str, now: Millis) -> Result<PathBuf, EngineError> {
        let mut known = self.lock();
        if let Some(entry) = known.projects.get(root) {
            return Ok(entry.folder.clone());
        }
        let folder = self.free_folder(root);
        std::fs::create_dir_all(&folder).map_err(EngineError::file("create", &folder))?;
        let projects = self.home.projects();
        sync_folder(&projects).map_err(EngineError::file("sync", &projects))?;
        let record = Record {
            root: root.to_owned(),
            remote: project::remote(Path::new(root)),
            aliases: Vec::new(),
            created: now.to_string(),
        };
        project_file::save(&folder, &record)?;
        known.insert(Entry { folder: folder.clone(), record });
        Ok(folder)
    }

    /// Remembers the worktree that led to a project, so that events from it are still placed right
    /// after it has been removed.
    pub fn note_worktree(&self, root: &str, cwd: &str) -> Result<(), EngineError> {
        let mut known = self.lock();
        let Some(worktree) = known.located.get(cwd).and_then(|found| found.worktree.as_ref())
        else {
            return Ok(());
        };
        let worktree = worktree.to_string_lossy().into_owned();
        if known.aliases.contains_key(&worktree) {
            return Ok(());
        }
        let Some(entry) = known.projects.get_mut(root) else {
            return Ok(());
        };
        entry.record.aliases.push(worktree.clone());
        let surplus = entry.record.aliases.len().saturating_sub(ALIASES_MAX);
        entry.record.aliases.drain(..surplus);
        project_file::save(&entry.folder, &entry.record)?;
        known.aliases.insert(worktree, root.to_owned());
        Ok(())
    }

    /// The folder of the project's own name, or, where that is another project's, the same name
    /// with a fingerprint of the root.
    fn free_folder(&self, root: &str) -> PathBuf {
        let name = project::folder_name(root);
        let folder = self.home.projects().join(&name);
        // A folder without a record is one whose making was cut short: it is taken up again.
        let file = folder.join(project_file::FILE);
        if file.exists() && project_file::read(&file).is_none_or(|record| record.root != root) {
            return self.home.projects().join(format!("{name}.{}", project::fingerprint(root, 8)));
        }
        folder
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Every change under this lock is a single insertion: a panic elsewhere leaves it whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn insert(&mut self, entry: Entry) {
        for alias in &entry.record.aliases {
            self.aliases.insert(alias.clone(), entry.record.root.clone());
        }
        self.projects.insert(entry.record.root.clone(), entry);
    }

    fn remember(&mut self, cwd: &str, found: &Located) {
        if self.located.len() >= CACHE_MAX {
            self.located.clear();
        }
        self.located.insert(cwd.to_owned(), found.clone());
    }

    fn nearest(&self, cwd: &str) -> Option<String> {
        Path::new(cwd).ancestors().find_map(|above| {
            let above = above.to_str()?;
            if self.projects.contains_key(above) {
                return Some(above.to_owned());
            }
            self.aliases.get(above).cloned()
        })
    }
}

/// A path without trailing separators, `.` and `..`, by its letters alone.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if path.starts_with('/') {
        format!("/{}", parts.join("/"))
    } else {
        path.trim_end_matches('\\').to_owned()
    }
}
