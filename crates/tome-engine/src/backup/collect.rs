//! Writes the backup of a home.

use std::path::Path;

use tome_home::{HomeError, Store, StoreMode, layout};

use super::block::BlockWriter;
use super::files::{self, FileOwner};
use super::record::{Record, to_hex};
use super::{BackupCounts, BackupError};
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
        let mut writer = BlockWriter::new(out);
        let created = self.clock().now();
        writer.push(&Record::Start { version: version.to_owned(), created })?;
        if let Some(config) = config {
            let redactor =
                self.redactor().map_err(|error| BackupError::Io(std::io::Error::other(error)))?;
            writer.push(&Record::Config { text: redactor.redact(config).into_owned() })?;
        }
        let projects = self.stores().projects().all();
        for (root, _) in &projects {
            if let Some(record) = self.stores().projects().export_record(root) {
                writer.push(&Record::Project(record))?;
            }
        }
        let mut unreadable = 0;
        for path in self.stores().list_paths() {
            let was_open = self.stores().is_open(&path);
            let root = projects.iter().find(|(_, folder)| folder.join("ledger") == path);
            let store = self.stores().open(&path)?;
            let pushed = push_store(&mut writer, &store, root.map_or("", |(root, _)| root));
            drop(store);
            if !was_open {
                self.close(&path);
            }
            unreadable += pushed?;
        }
        for (root, folder) in &projects {
            push_project_files(&mut writer, root, folder)?;
        }
        push_notebook(&mut writer, None, "coder", &self.home().coder())?;
        let pauses = self.home().pauses();
        files::push_file(&mut writer, FileOwner { project: None }, "pauses.jsonl", &pauses)?;
        for line in self.spool().read_waiting()? {
            writer.push(&Record::Spool { line })?;
        }
        writer.finish(unreadable)
    }

    /// Whether the config says one store for all projects; a backup does not depend on it.
    pub(crate) fn is_unified(&self) -> bool {
        self.stores().mode() == StoreMode::Unified
    }
}

/// Writes the events of a store in order of arrival, up to the one that is the last now. Returns the
/// number of events that cannot be read.
fn push_store(
    writer: &mut BlockWriter<'_>,
    store: &Store,
    project: &str,
) -> Result<u64, BackupError> {
    let (last_seq, mut seq, mut unreadable) = (store.last_seq(), 0, 0);
    // Before the events: an entry may name an event that arrives later, never the reverse.
    for entry in store.dedup_entries() {
        let entry = entry.map_err(HomeError::from)?;
        writer.push(&Record::Dedup {
            project: project.to_owned(),
            family: entry.family().to_owned(),
            key: to_hex(entry.key()),
            value: to_hex(entry.value()),
        })?;
    }
    loop {
        let page = store.read_outbox(seq, PAGE_EVENTS).map_err(HomeError::from)?;
        let Some(last) = page.last() else { return Ok(unreadable) };
        for entry in page.iter().filter(|entry| entry.seq <= last_seq) {
            match store.event_at(&entry.position) {
                Ok(Some(event)) => writer.push(&Record::Event(Box::new(event)))?,
                // Reported by `tome doctor`; the rest of the store is still worth a backup.
                Ok(None) | Err(_) => unreadable += 1,
            }
        }
        if last.seq >= last_seq {
            return Ok(unreadable);
        }
        seq = last.seq;
    }
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
    let history = folder.join(files::HISTORY);
    if !history.is_file() && files::list_notes(folder).is_empty() {
        return Ok(());
    }
    let (project, name) = (project.map(str::to_owned), name.to_owned());
    writer.push(&Record::Notebook { project, folder: name })?;
    files::push_file(writer, owner, files::HISTORY, &history)?;
    for note in files::list_notes(folder) {
        files::push_file(writer, owner, &note, &folder.join(&note))?;
    }
    writer.push(&Record::NotebookEnd)
}
