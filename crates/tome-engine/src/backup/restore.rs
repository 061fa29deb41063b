//! Adds a backup to a home.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_home::{HomeError, NotebookOwner, sync_folder};
use tome_ledger::DedupEntry;
use tome_model::{Event, Scope, from_hex};
use tome_notebook::{Notebook, move_if_free};

use super::BackupError;
use super::notebook_merge::{MergedNotebook, merge_notebook};
use super::paths::{check_path, is_kept_file};
use super::record::{Record, check_record};
use crate::{Engine, parse_spool_line};

/// The outcome of a restore so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestoreCounts {
    /// Events that were missing.
    pub events: u64,
    /// Events that were stored already.
    pub duplicates: u64,
    /// Projects that were not known.
    pub projects: u64,
    /// Notes that were added or brought up to date.
    pub notes: u64,
    /// Notes that this home has, or had and changed since.
    pub notes_known: u64,
    /// Notes that differ from those here and were put beside them.
    pub notes_beside: u64,
    /// Earlier versions of notes that were added to a history.
    pub versions: u64,
    /// Other files that were missing.
    pub files: u64,
    /// Other files that exist here.
    pub files_known: u64,
    /// Waiting events that were added to the spool.
    pub spooled: u64,
}

/// A restore in progress. Files are collected in a folder of their own and moved into place once they
/// are complete; what an interrupted restore left there is removed by the next one.
pub struct Restorer {
    staging: PathBuf,
    counts: RestoreCounts,
    notebook: Option<(Option<String>, String)>,
    file: Option<(String, File)>,
    /// Held while the restore lasts.
    _lock: File,
}

impl Restorer {
    /// Begins a restore.
    pub fn begin(engine: &Engine) -> Result<Self, BackupError> {
        let run = engine.home().run();
        std::fs::create_dir_all(&run)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(run.join("restore.lock"))?;
        lock.try_lock().map_err(|_| BackupError::Busy)?;
        let restorer = Self {
            staging: run.join("restore"),
            counts: RestoreCounts::default(),
            notebook: None,
            file: None,
            _lock: lock,
        };
        restorer.empty_staging()?;
        Ok(restorer)
    }

    /// Adds the records of a block. They are durable when this returns, apart from files whose last
    /// part is still to come. Returns the outcome so far and the projects that got events.
    pub fn apply(
        &mut self,
        engine: &Engine,
        records: Vec<Record>,
    ) -> Result<(RestoreCounts, Vec<String>), BackupError> {
        let mut events: Vec<Event> = Vec::new();
        let mut dedup: Vec<(String, DedupEntry)> = Vec::new();
        let mut spooled = Vec::new();
        for record in records {
            check_record(&record)?;
            match record {
                Record::Event(event) => events.push(*event),
                Record::Dedup { project, family, key, value } => {
                    let entry = from_hex(&key).zip(from_hex(&value));
                    let entry = entry.and_then(|(key, value)| DedupEntry::new(&family, key, value));
                    dedup.extend(entry.map(|entry| (project, entry)));
                }
                Record::Project(record) => {
                    let projects = engine.stores().projects();
                    let is_new = projects.import_record(&record, engine.clock().now())?;
                    self.counts.projects += u64::from(is_new);
                }
                Record::Notebook { project, folder } => {
                    self.empty_staging()?;
                    self.notebook = Some((project, folder));
                }
                Record::NotebookEnd => self.restore_notebook(engine)?,
                Record::File { project, path, last, text, hex } => {
                    let bytes = match (text, hex) {
                        (Some(text), _) => text.into_bytes(),
                        (None, Some(hex)) => from_hex(&hex).unwrap_or_default(),
                        (None, None) => Vec::new(),
                    };
                    self.add_part(&path, &bytes)?;
                    if last {
                        self.finish_file()?;
                        if self.notebook.is_none() {
                            self.restore_file(engine, project.as_deref(), &path)?;
                        }
                    }
                }
                Record::Spool { line } => spooled.extend(parse_spool_line(line.as_bytes())),
                Record::Start { .. } | Record::Config { .. } | Record::End(_) => {}
            }
        }
        for (project, entry) in dedup {
            let store = match (project.is_empty(), engine.is_unified()) {
                (true, false) => continue,
                (true, true) => engine.stores().open(&engine.home().unified_ledger())?,
                (false, _) => engine.stores().open_project(&project)?,
            };
            store.add_dedup_entries(&[entry]).map_err(HomeError::from)?;
        }
        let restored = engine.stores().restore_events(events)?;
        self.counts.events += restored.stored;
        self.counts.duplicates += restored.duplicates;
        if !spooled.is_empty() {
            self.counts.spooled += spooled.len() as u64;
            engine.spool().append(spooled)?;
        }
        Ok((self.counts, restored.roots))
    }

    fn empty_staging(&self) -> Result<(), BackupError> {
        match std::fs::remove_dir_all(&self.staging) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(std::fs::create_dir_all(&self.staging)?)
    }

    fn add_part(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackupError> {
        if self.file.as_ref().is_none_or(|(open, _)| open != path) {
            let to = self.staging.join(path);
            if let Some(folder) = to.parent() {
                std::fs::create_dir_all(folder)?;
            }
            self.file = Some((path.to_owned(), File::create(&to)?));
        }
        if let Some((_, file)) = &mut self.file {
            file.write_all(bytes)?;
        }
        Ok(())
    }

    fn finish_file(&mut self) -> Result<(), BackupError> {
        if let Some((_, file)) = self.file.take() {
            file.sync_all()?;
        }
        Ok(())
    }

    /// Moves a file into place, unless there is one.
    fn restore_file(
        &mut self,
        engine: &Engine,
        project: Option<&str>,
        path: &str,
    ) -> Result<(), BackupError> {
        if !is_kept_file(project.is_some(), path) {
            return Err(BackupError::Path(path.to_owned()));
        }
        let folder = owner_folder(engine, project)?;
        let (from, to) = (self.staging.join(path), folder.join(path));
        let parent = to.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent)?;
        match move_if_free(&from, &to) {
            Ok(()) => {
                sync_folder(parent)?;
                self.counts.files += 1;
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                self.counts.files_known += 1;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn restore_notebook(&mut self, engine: &Engine) -> Result<(), BackupError> {
        let Some((project, name)) = self.notebook.take() else { return Ok(()) };
        let folder = owner_folder(engine, project.as_deref())?.join(&name);
        let notebook = open_notebook(engine, project.as_deref(), &name, &folder)?;
        let history = folder.join(".history");
        let merged: MergedNotebook = merge_notebook(&notebook, &history, &self.staging)?;
        self.counts.notes += merged.notes;
        self.counts.notes_known += merged.known;
        self.counts.notes_beside += merged.beside;
        self.counts.versions += merged.versions;
        self.empty_staging()
    }
}

impl Drop for Restorer {
    fn drop(&mut self) {
        // Left-overs are removed by the next restore as well.
        let _ = std::fs::remove_dir_all(&self.staging);
    }
}

/// The folder of a project in the home, created if it is missing; the home itself without a project.
fn owner_folder(engine: &Engine, project: Option<&str>) -> Result<PathBuf, BackupError> {
    Ok(match project {
        Some(root) => engine.stores().projects().ensure_folder(root, engine.clock().now())?,
        None => engine.home().root().to_path_buf(),
    })
}

/// Opens the notebook of a folder. A project whose notes are in its repository has its notebook there.
fn open_notebook(
    engine: &Engine,
    project: Option<&str>,
    name: &str,
    folder: &Path,
) -> Result<Arc<Notebook>, BackupError> {
    let scope = match (project, name) {
        (None, _) => Scope::Coder,
        (Some(_), "memory") => Scope::Project,
        (Some(_), _) => Scope::Session,
    };
    if let (Scope::Project, Some(root)) = (scope, project)
        && engine.stores().projects().find_known_project(root).as_deref() == Some(root)
    {
        let owner = NotebookOwner { scope, cwd: Some(root.to_owned()), session: None };
        return Ok(engine.notebooks().open(&owner)?);
    }
    debug_assert!(check_path(name).is_ok());
    Ok(Arc::new(Notebook::new(scope, folder, Arc::clone(engine.clock()))))
}
