//! Names, moves, merges and removals of projects. None of them changes an event: a project keeps the root
//! under which its events are stored, and its record lists the other folders that belong to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tome_ledger::Ledger;
use tome_model::{Agent, InvalidInput, SessionId, truncate_to};

use crate::durable::sync_folder;
use crate::merge_sessions::{choose_event_id, encode_event};
use crate::projects::ProjectEntry;
use crate::root_path::check_root;
use crate::{HomeError, Projects, StoreMode, Stores, layout, project_file};

const BATCH_EVENTS: usize = 500;
const NAME_CHARS_MAX: usize = 60;

/// A project as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProject {
    /// Identifies it: the root under which its events are stored.
    pub root: String,
    /// Unique: the name that a person gave it, or the end of its path.
    pub name: String,
    /// The current folder.
    pub folder: String,
    /// Other folders that belong to it.
    pub other_folders: Vec<String>,
    /// The URL of the repository's origin.
    pub remote: Option<String>,
    /// Its folder in the home.
    pub home_folder: PathBuf,
}

impl Projects {
    /// Lists all projects, sorted by root, with names that are unique; those of offline chats are left out.
    pub fn list(&self) -> Vec<KnownProject> {
        // Offline chats are a demonstration, and no project of the user.
        let is_shown = |entry: &&ProjectEntry| !self.home().is_offline_project(&entry.record.root);
        let entries: Vec<ProjectEntry> =
            self.lock().projects.values().filter(is_shown).cloned().collect();
        let mut all: Vec<KnownProject> = entries
            .into_iter()
            .map(|ProjectEntry { folder, record }| {
                let current = record.path.clone().unwrap_or_else(|| record.root.clone());
                let mut other_folders = record.folders;
                other_folders.push(record.root.clone());
                other_folders.retain(|other| *other != current);
                KnownProject {
                    name: record.name.unwrap_or_default(),
                    root: record.root,
                    folder: current,
                    other_folders,
                    remote: record.remote,
                    home_folder: folder,
                }
            })
            .collect();
        all.sort_by(|a, b| a.root.cmp(&b.root));
        add_names(&mut all);
        all
    }

    /// The roots of the projects with a name.
    pub fn find_by_name(&self, name: &str) -> Vec<String> {
        let is_named = |one: &KnownProject| one.name == name || last_parts(&one.folder, 1) == name;
        let all = self.list();
        match all.iter().find(|one| one.name == name) {
            Some(one) => vec![one.root.clone()],
            None => all.into_iter().filter(is_named).map(|one| one.root).collect(),
        }
    }

    /// Where a project is now.
    pub fn current_folder(&self, root: &str) -> PathBuf {
        let known = self.lock();
        let path = known.projects.get(root).and_then(|entry| entry.record.path.as_deref());
        PathBuf::from(path.unwrap_or(root))
    }

    /// Gives a project another name. The end of its folder, such as `work/app`, gives it back the name
    /// that it has by itself.
    pub fn rename(&self, root: &str, name: &str) -> Result<(), HomeError> {
        let own_folder = self.list().into_iter().find(|one| one.root == root).map(|one| one.folder);
        let parts = name.split('/').count();
        if parts > 1 && own_folder.is_some_and(|folder| last_parts(&folder, parts) == name) {
            return self.change(root, |entry| entry.record.name = None);
        }
        let is_plain = !name.is_empty()
            && name.trim() == name
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\'))
            && !name.starts_with(['.', '-', '~']);
        if !is_plain {
            let shown = truncate_to(name, 80);
            let problem = format!("{shown:?} is not possible: use letters and digits, and no /");
            return Err(InvalidInput::invalid("name", problem).into());
        }
        if let Some(other) =
            self.list().into_iter().find(|one| one.name == name && one.root != root)
        {
            let problem = format!("{name:?} is already that of {}", other.folder);
            return Err(InvalidInput::invalid("name", problem).into());
        }
        self.change(root, |entry| entry.record.name = Some(name.to_owned()))
    }

    /// Records that a project's folder is elsewhere now.
    pub fn move_to(&self, root: &str, folder: &str) -> Result<(), HomeError> {
        check_root(folder)?;
        if self.canonical_root(folder) != root && self.find_folder(folder).is_some() {
            let problem = format!(
                "{folder} is a project already; merge it first: `tome projects merge {folder} {root}`"
            );
            return Err(InvalidInput::invalid("folder", problem).into());
        }
        // The name is derived from the folder unless it is given; people go on calling it the same.
        let name = self.list().into_iter().find(|one| one.root == root).map(|one| one.name);
        self.change(root, |entry| {
            entry.record.name = entry.record.name.take().or(name);
            entry.record.path = Some(folder.to_owned()).filter(|folder| folder != root);
            if folder != root && !entry.record.folders.iter().any(|known| known == folder) {
                entry.record.folders.push(folder.to_owned());
            }
        })
    }

    /// Records that the folders of one project belong to another, and sets its folder in the home aside.
    /// Returns where that is kept.
    pub fn merge_into(&self, from: &str, into: &str) -> Result<PathBuf, HomeError> {
        let Some(gone) = self.lock().projects.get(from).cloned() else {
            return Err(unknown_project_error(from));
        };
        self.change(into, |entry| {
            let folders = [vec![from.to_owned()], gone.record.folders.clone()].concat();
            for folder in folders.into_iter().filter(|folder| folder != into) {
                if !entry.record.folders.contains(&folder) {
                    entry.record.folders.push(folder);
                }
            }
            for alias in &gone.record.aliases {
                if !entry.record.aliases.contains(alias) {
                    entry.record.aliases.push(alias.clone());
                }
            }
        })?;
        let kept = self.set_aside(&gone.folder)?;
        self.lock().projects.remove(from);
        Ok(kept)
    }

    /// Removes a project that holds no event and no note. The caller has checked its store. Where the
    /// history of deleted notes is left, the folder is set aside; returns where it is kept.
    pub fn remove_empty(&self, root: &str) -> Result<Option<PathBuf>, HomeError> {
        let Some(entry) = self.lock().projects.get(root).cloned() else {
            return Err(unknown_project_error(root));
        };
        let kept = match find_note_rests(&entry.folder) {
            NoteRests::Notes => {
                return Err(InvalidInput::invalid("project", "it has notes").into());
            }
            NoteRests::History => Some(self.set_aside(&entry.folder)?),
            NoteRests::Nothing => {
                std::fs::remove_dir_all(&entry.folder)
                    .map_err(HomeError::file("remove", &entry.folder))?;
                None
            }
        };
        self.lock().projects.remove(root);
        Ok(kept)
    }

    fn change(&self, root: &str, change: impl FnOnce(&mut ProjectEntry)) -> Result<(), HomeError> {
        let mut known = self.lock();
        let Some(mut entry) = known.projects.get(root).cloned() else {
            return Err(unknown_project_error(root));
        };
        change(&mut entry);
        project_file::save_record(&entry.folder, &entry.record)?;
        known.insert(entry);
        Ok(())
    }

    fn set_aside(&self, folder: &Path) -> Result<PathBuf, HomeError> {
        let merged = self.home().merged();
        std::fs::create_dir_all(&merged).map_err(HomeError::file("create", &merged))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbered_path = |n: u32| match n {
            0 => merged.join(&name),
            n => merged.join(format!("{name}.{n}")),
        };
        let kept = (0u32..)
            .map(numbered_path)
            .find(|path| !path.exists())
            .unwrap_or_else(|| numbered_path(0));
        std::fs::rename(folder, &kept).map_err(HomeError::file("move", folder))?;
        sync_folder(&merged).map_err(HomeError::file("sync", &merged))?;
        Ok(kept)
    }
}

impl Stores {
    /// Copies the events of a project to another one, which recognizes those it has by their ids; also the
    /// own notes of its sessions. Returns the number of its events, which may have been copied by an earlier
    /// attempt.
    pub fn copy_project(&self, from: &str, into: &str) -> Result<u64, HomeError> {
        if self.mode() == StoreMode::Unified {
            let problem =
                "projects cannot be merged in one ledger for all (store.mode = \"unified\")";
            return Err(InvalidInput::invalid("store.mode", problem).into());
        }
        let mut copied = 0;
        let mut sessions: HashMap<(Agent, SessionId), ()> = HashMap::new();
        if let Some(path) = self.find_store_path(from) {
            let (source, goal) = (self.open(&path)?, self.open_project(into)?);
            source.copy_dedup_entries(&goal)?;
            copied = copy_events(&source, &goal, into, &mut sessions)?;
        }
        for (agent, session) in sessions.into_keys() {
            self.session_index()?.record_merge(&agent, &session, into)?;
        }
        self.move_session_notes(from, into);
        Ok(copied)
    }

    /// Moves the own notes of sessions. What cannot be moved stays in the folder that is set aside.
    fn move_session_notes(&self, from: &str, into: &str) {
        let folders = self.projects().find_folder(from).zip(self.projects().find_folder(into));
        let Some((from, into)) = folders else { return };
        let sessions =
            std::fs::read_dir(layout::sessions_dir(&from)).into_iter().flatten().flatten();
        for session in sessions {
            let notes = session.path().join("working-memory");
            let goal = layout::sessions_dir(&into).join(session.file_name());
            if notes.is_dir() && std::fs::create_dir_all(&goal).is_ok() {
                let _ = tome_notebook::move_if_free(&notes, &goal.join("working-memory"));
            }
        }
    }
}

fn copy_events(
    source: &Ledger,
    goal: &Ledger,
    into: &str,
    sessions: &mut HashMap<(Agent, SessionId), ()>,
) -> Result<u64, HomeError> {
    let (mut seq, mut count) = (0, 0);
    loop {
        let entries = source.read_outbox(seq, BATCH_EVENTS)?;
        let Some(last) = entries.last() else { return Ok(count) };
        seq = last.seq;
        let mut batch = Vec::with_capacity(entries.len());
        for entry in &entries {
            let Some(event) = source.event_at(&entry.position)? else { continue };
            count += 1;
            if event.session.as_str() != SessionId::UNKNOWN {
                sessions.insert((event.agent.clone(), event.session.clone()), ());
            }
            if let Some(id) = choose_event_id(goal, &event)? {
                batch.push(encode_event(event, id, into));
            }
        }
        goal.append(batch)?;
    }
}

fn unknown_project_error(root: &str) -> HomeError {
    HomeError::NotFound(format!("there is no project {}", truncate_to(root, 200)))
}

/// The remains of a project's notebook in the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteRests {
    /// No note, and none that was deleted.
    Nothing,
    /// The history of notes that were deleted or are in the repository, or files of sessions.
    History,
    /// Notes.
    Notes,
}

/// Finds what is left of the notebook in a project's folder. Its index alone is no note.
pub fn find_note_rests(folder: &Path) -> NoteRests {
    let entries = std::fs::read_dir(layout::notebook_dir(folder)).into_iter().flatten().flatten();
    let mut rests = match holds_no_file(&layout::sessions_dir(folder)) {
        true => NoteRests::Nothing,
        false => NoteRests::History,
    };
    for entry in entries {
        let name = entry.file_name();
        match name.to_string_lossy().as_ref() {
            "MEMORY.md" => {}
            ".history" | ".moved" => rests = NoteRests::History,
            name if name.starts_with('.') => {}
            _ if holds_no_file(&entry.path()) => {}
            _ => return NoteRests::Notes,
        }
    }
    rests
}

/// Whether a path is missing, or a folder without any file below it.
fn holds_no_file(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().all(|entry| holds_no_file(&entry.path())),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Gives every project without a name the shortest end of its path that no other one has.
fn add_names(all: &mut [KnownProject]) {
    let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
    let folders: Vec<String> = all.iter().map(|one| one.folder.clone()).collect();
    for (index, project) in all.iter_mut().enumerate() {
        if !project.name.is_empty() {
            continue;
        }
        let is_free = |name: &str| {
            let others = folders.iter().zip(&names).enumerate().filter(|(at, _)| *at != index);
            let mut others = others.map(|(_, (folder, given))| (folder, given));
            !others.any(|(folder, given)| {
                if given.is_empty() {
                    last_parts(folder, name.split('/').count()) == name
                } else {
                    given == name
                }
            })
        };
        let depth = project.folder.split(['/', '\\']).count();
        let shortened = (1..=depth).map(|parts| last_parts(&project.folder, parts));
        project.name = shortened
            .into_iter()
            .find(|name| is_free(name))
            .unwrap_or_else(|| project.folder.clone());
    }
}

fn last_parts(path: &str, count: usize) -> String {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let from = parts.len().saturating_sub(count);
    let end = parts.get(from..).unwrap_or_default().join("/");
    if end.is_empty() { path.to_owned() } else { end }
}

#[cfg(test)]
mod tests {
    use tome_model::Millis;

    use super::*;
    use crate::Home;

    #[test]
    fn names_are_the_shortest_unique_ends_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        let projects = Projects::load(&Home::at(folder.path()));
        for root in ["/gone/a/app", "/gone/b/app", "/gone/site"] {
            projects.ensure_folder(root, Millis(1)).unwrap();
        }
        let names = |projects: &Projects| {
            projects.list().into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&projects), ["a/app", "b/app", "site"]);
        assert_eq!(projects.find_by_name("app").len(), 2);
        assert_eq!(projects.find_by_name("b/app"), ["/gone/b/app"]);
        projects.rename("/gone/b/app", "backend").unwrap();
        assert_eq!(names(&projects), ["app", "backend", "site"]);
        assert!(projects.rename("/gone/site", "backend").is_err());
        assert!(projects.rename("/gone/site", "a/b").is_err());
        projects.rename("/gone/b/app", "b/app").unwrap();
        assert_eq!(names(&projects), ["a/app", "b/app", "site"]);
        projects.rename("/gone/b/app", "backend").unwrap();
        let again = Projects::load(&Home::at(folder.path()));
        assert_eq!(names(&again), ["app", "backend", "site"]);
    }

    #[test]
    fn a_moved_project_keeps_its_root_and_is_found_in_its_new_folder() {
        let folder = tempfile::tempdir().unwrap();
        let projects = Projects::load(&Home::at(folder.path().join("home")));
        projects.ensure_folder("/gone/app", Millis(1)).unwrap();
        let new = folder.path().canonicalize().unwrap().join("new");
        std::fs::create_dir_all(&new).unwrap();
        let new = new.to_str().unwrap();
        projects.move_to("/gone/app", new).unwrap();
        assert_eq!(projects.resolve_project(new, None).unwrap(), "/gone/app");
        assert_eq!(projects.resolve_project("/x", Some(new)).unwrap(), "/gone/app");
        assert_eq!(projects.current_folder("/gone/app"), Path::new(new));
        assert_eq!(projects.find_by_name("app"), ["/gone/app"], "its name stays");
        let again = Projects::load(&Home::at(folder.path().join("home")));
        assert_eq!(again.find_known_project(new).as_deref(), Some("/gone/app"));
        projects.ensure_folder("/gone/other", Millis(1)).unwrap();
        assert!(projects.move_to("/gone/app", "/gone/other").is_err());
    }
}
