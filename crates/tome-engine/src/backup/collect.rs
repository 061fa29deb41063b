//! Writes the backup of a home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tome_home::{HomeError, Store, StoreMode, layout, project_record_extends};
use tome_model::{Event, to_hex};

use super::block::{BlockWriter, encode_line};
use super::files::{self, FileOwner};
use super::paths::HISTORY;
use super::record::{Record, project_root};
use super::{BackupCounts, BackupError, LedgerMark, PartialBackup};
use crate::Engine;

/// Outbox entries read at a time.
const PAGE_EVENTS: usize = 500;

impl Engine {
    /// Writes a backup: passes its blocks to `out`, in order. `config` is the text of the config file;
    /// secrets in it are cut.
    pub fn write_backup(
        &self,
        version: &str,
        config: Option<&str>,
        out: &mut dyn FnMut(Vec<u8>) -> Result<(), BackupError>,
    ) -> Result<BackupCounts, BackupError> {
        self.write_blocks(version, config, None, out)
    }

    /// Continues an interrupted backup: passes the blocks that follow those of `partial` to `out`. The
    /// whole then holds everything that a backup begun now would. Fails with
    /// [`BackupError::CannotContinue`] if the events in `partial` are not those at the beginning of the
    /// ledgers; blocks that were passed on by then are of no use.
    pub fn continue_backup(
        &self,
        version: &str,
        config: Option<&str>,
        partial: &PartialBackup,
        out: &mut dyn FnMut(Vec<u8>) -> Result<(), BackupError>,
    ) -> Result<BackupCounts, BackupError> {
        self.write_blocks(version, config, Some(partial), out)
    }

    fn write_blocks(
        &self,
        version: &str,
        config: Option<&str>,
        partial: Option<&PartialBackup>,
        out: &mut dyn FnMut(Vec<u8>) -> Result<(), BackupError>,
    ) -> Result<BackupCounts, BackupError> {
        if partial.is_some_and(|partial| partial.version != version) {
            return Err(BackupError::CannotContinue("another version of Tome wrote it"));
        }
        // Before the ledgers: an event that leaves the spool meanwhile is in one of them.
        let waiting = self.spool().read_waiting()?;
        let mut writer = BlockWriter::new(partial, out);
        let created = self.clock().now();
        writer.push(&Record::Start { version: version.to_owned(), created })?;
        self.push_config(&mut writer, config, partial)?;
        // Offline chats only demonstrate memory. Another home could not tell them from projects.
        let (offline, projects): (Vec<_>, Vec<_>) = self
            .stores()
            .projects()
            .all()
            .into_iter()
            .partition(|(root, _)| self.home().is_offline_project(root));
        self.push_projects(&mut writer, &projects, partial)?;
        writer.end_section()?;

        let mut paths = self.stores().list_paths();
        paths.retain(|path| offline.iter().all(|(_, folder)| folder.join("ledger") != *path));
        let is_listed =
            |mark: &LedgerMark| paths.iter().any(|path| self.ledger_name(path) == mark.ledger);
        if partial.is_some_and(|partial| !partial.ledgers.iter().all(is_listed)) {
            return Err(BackupError::CannotContinue("a project in it is gone"));
        }
        let mut unreadable = 0;
        for path in &paths {
            let name = self.ledger_name(path);
            let mark = partial.and_then(|partial| partial.find_mark(&name));
            let is_kept = |event: &Event| !self.home().is_offline_project(&event.project);
            unreadable += self
                .with_store(path, |store| push_events(&mut writer, store, &is_kept, &name, mark))?;
        }
        // After the events: an entry may name an event that is not in the backup, which does no harm,
        // while an event without its entry could be stored twice.
        for path in paths.iter().filter(|path| path.is_dir()) {
            let root = projects.iter().find(|(_, folder)| folder.join("ledger") == **path);
            let root = root.map_or("", |(root, _)| root);
            self.with_store(path, |store| push_dedup_entries(&mut writer, store, root))?;
        }
        for (root, folder) in &projects {
            push_project_files(&mut writer, root, folder)?;
        }
        push_notebook(&mut writer, None, "coder", &self.home().coder())?;
        let pauses = self.home().pauses();
        files::push_file(&mut writer, FileOwner { project: None }, "pauses.jsonl", &pauses)?;
        for line in waiting {
            writer.push(&Record::Spool { line })?;
        }
        writer.finish(unreadable)
    }

    /// Writes the config file, unless the partial backup holds it as it is. The last one in a backup counts.
    fn push_config(
        &self,
        writer: &mut BlockWriter<'_>,
        config: Option<&str>,
        partial: Option<&PartialBackup>,
    ) -> Result<(), BackupError> {
        let kept = partial.and_then(|partial| partial.config.as_deref());
        let Some(config) = config else {
            return match kept {
                Some(_) => Err(BackupError::CannotContinue("the config file is gone")),
                None => Ok(()),
            };
        };
        let redactor =
            self.redactor().map_err(|error| BackupError::Io(std::io::Error::other(error)))?;
        let text = redactor.redact(config).into_owned();
        if kept == Some(text.as_str()) { Ok(()) } else { writer.push(&Record::Config { text }) }
    }

    /// Writes the projects that the partial backup does not hold as they are. Restoring merges the
    /// records of a project, which is only right while they grow.
    fn push_projects(
        &self,
        writer: &mut BlockWriter<'_>,
        projects: &[(String, PathBuf)],
        partial: Option<&PartialBackup>,
    ) -> Result<(), BackupError> {
        let mut kept: BTreeMap<&str, &Value> =
            partial.iter().flat_map(|it| &it.projects).map(|it| (project_root(it), it)).collect();
        for (root, _) in projects {
            let Some(record) = self.stores().projects().export_record(root) else { continue };
            match kept.remove(root.as_str()) {
                Some(earlier) if *earlier == record => {}
                Some(earlier) if !project_record_extends(&record, earlier) => {
                    return Err(BackupError::CannotContinue("a project in it has changed"));
                }
                _ => writer.push(&Record::Project(record))?,
            }
        }
        if kept.is_empty() {
            Ok(())
        } else {
            Err(BackupError::CannotContinue("a project in it is gone"))
        }
    }

    /// The folder of a ledger, relative to the home.
    fn ledger_name(&self, path: &Path) -> String {
        path.strip_prefix(self.home().root()).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Runs `work` on a store, and closes it again if it was closed before.
    fn with_store<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&Store) -> Result<T, BackupError>,
    ) -> Result<T, BackupError> {
        let was_open = self.stores().is_open(path);
        let store = self.stores().open(path)?;
        let done = work(&store);
        drop(store);
        if !was_open {
            self.close(path);
        }
        done
    }

    /// Whether the config selects one store for all projects; a backup does not depend on it.
    pub(crate) fn is_unified(&self) -> bool {
        self.stores().mode() == StoreMode::Unified
    }
}

/// Writes the kept events of a store in order of arrival, up to the one that is the last now. With a mark those
/// up to it are in the backup already: they are read and hashed to prove it. Returns the number of events
/// that cannot be read.
fn push_events(
    writer: &mut BlockWriter<'_>,
    store: &Store,
    is_kept: &dyn Fn(&Event) -> bool,
    name: &str,
    mark: Option<&LedgerMark>,
) -> Result<u64, BackupError> {
    let (last_seq, mut seq, mut unreadable) = (store.last_seq(), 0, 0);
    let known_seq = mark.map_or(0, |mark| mark.seq);
    let check = |hasher: &blake3::Hasher| match mark {
        Some(mark) if hasher.finalize().to_hex().as_str() != mark.sum => {
            Err(BackupError::CannotContinue("its events are not those of this home"))
        }
        _ => Ok(()),
    };
    let (mut hasher, mut is_checked) = (blake3::Hasher::new(), false);
    while seq < last_seq {
        let page = store.read_outbox(seq, PAGE_EVENTS).map_err(HomeError::from)?;
        let Some(last) = page.last() else { break };
        seq = last.seq;
        for entry in page.iter().filter(|entry| entry.seq <= last_seq) {
            if !is_checked && entry.seq > known_seq {
                check(&hasher)?;
                is_checked = true;
            }
            // Reported by `tome doctor`; the rest of the store is still worth a backup.
            let Ok(Some(event)) = store.event_at(&entry.position) else {
                unreadable += 1;
                continue;
            };
            if !is_kept(&event) {
                continue;
            }
            let record = Record::Event(Box::new(event));
            let line = encode_line(&record)?;
            hasher.update(&line);
            if entry.seq > known_seq {
                let sum = hasher.finalize().to_hex().to_string();
                let mark = LedgerMark { ledger: name.to_owned(), seq: entry.seq, sum };
                writer.push_event(&record, &line, mark)?;
            }
        }
    }
    if !is_checked {
        check(&hasher)?;
    }
    writer.end_section()?;
    Ok(unreadable)
}

fn push_dedup_entries(
    writer: &mut BlockWriter<'_>,
    store: &Store,
    project: &str,
) -> Result<(), BackupError> {
    for entry in store.dedup_entries() {
        let entry = entry.map_err(HomeError::from)?;
        writer.push(&Record::Dedup {
            project: project.to_owned(),
            family: entry.family().to_owned(),
            key: to_hex(entry.key()),
            value: to_hex(entry.value()),
        })?;
    }
    Ok(())
}

fn push_project_files(
    writer: &mut BlockWriter<'_>,
    root: &str,
    folder: &Path,
) -> Result<(), BackupError> {
    push_notebook(writer, Some(root), "memory", &layout::notebook_dir(folder))?;
    let owner = FileOwner { project: Some(root) };
    for name in ["injections.old.jsonl", "injections.jsonl", "topics.json"] {
        files::push_file(writer, owner, name, &folder.join(name))?;
    }
    let moved = layout::moved_notes_dir(folder);
    for name in files::list_below(&moved, 1) {
        files::push_file(writer, owner, &format!("memory/.moved/{name}"), &moved.join(&name))?;
    }
    for entry in std::fs::read_dir(layout::sessions_dir(folder)).into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let own_notes = format!("sessions/{name}/working-memory");
        push_notebook(writer, Some(root), &own_notes, &folder.join(&own_notes))?;
        let kept = format!("sessions/{name}/{}", layout::KEPT_MESSAGES);
        files::push_file(writer, owner, &kept, &folder.join(&kept))?;
    }
    Ok(())
}

/// Writes a notebook. The history comes first: a note that is newer than its history is an edit like
/// any other, while a history that is newer than its note would seem to have been undone.
fn push_notebook(
    writer: &mut BlockWriter<'_>,
    project: Option<&str>,
    name: &str,
    folder: &Path,
) -> Result<(), BackupError> {
    let owner = FileOwner { project };
    let history = folder.join(HISTORY);
    if !history.is_file() && files::list_notes(folder).is_empty() {
        return Ok(());
    }
    let (project, name) = (project.map(str::to_owned), name.to_owned());
    writer.push(&Record::Notebook { project, folder: name })?;
    files::push_file(writer, owner, HISTORY, &history)?;
    for note in files::list_notes(folder) {
        files::push_file(writer, owner, &note, &folder.join(&note))?;
    }
    writer.push(&Record::NotebookEnd)
}
