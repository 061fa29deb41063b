//! Undoes an installation.
//!
//! A file that is still as Tome left it is restored byte for byte, or deleted if it did not exist
//! before, together with folders that were created for it and are empty. A file that changed since
//! loses only Tome's parts. So does a file that has Tome's parts but no record (another home,
//! installed by hand).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::integration::AgentIntegration;
use super::trust_cleanup::TrustCleanup;
use super::undo_journal::{FileFormat, UndoEntry, UndoJournal, content_hash};
use super::{Environment, InstallContent, SetupError, disk, edit};

#[derive(Debug)]
pub struct FileUndo {
    pub path: PathBuf,
    pub action: UndoAction,
    /// The current content.
    pub current: Option<Vec<u8>>,
    /// Folders to remove if empty, outermost first.
    made: Vec<PathBuf>,
    /// The journal entry to keep; `None` if everything is undone.
    remaining: Option<UndoEntry>,
}

#[derive(Debug)]
pub enum UndoAction {
    /// Write the original content.
    Restored(Vec<u8>),
    /// Tome created the file.
    Deleted,
    /// The file changed since; remove only Tome's parts.
    Stripped(String),
    /// Nothing to do, with the reason if that may be unexpected.
    Left(Option<String>),
    Refused(SetupError),
}

/// Plans the undo for these agents, limited to the environment's project if it has one.
pub fn plan_undo(
    clients: &[&'static AgentIntegration],
    environment: &Environment<'_>,
    book: &UndoJournal,
) -> Vec<FileUndo> {
    let names: BTreeSet<String> = clients.iter().map(|client| client.name.to_owned()).collect();
    let mut all = Vec::new();
    let is_meant = |entry: &&UndoEntry| {
        !entry.agents.is_disjoint(&names)
            && (environment.project.is_none() || entry.project == environment.project)
    };
    let meant: Vec<&UndoEntry> = book.entries().iter().filter(is_meant).collect();
    let of_codex = meant.iter().filter(|entry| entry.agents.contains("codex"));
    let untrust = names
        .contains("codex")
        .then(|| TrustCleanup::collect(environment, of_codex.map(|entry| entry.path.as_path())));
    for entry in meant {
        all.push(plan_entry(entry, &names, book, untrust.as_ref()));
    }
    for client in clients {
        for part in (client.install_files)(environment) {
            let is_recorded = book.entry(&part.path).is_some();
            if !is_recorded && !all.iter().any(|seen| seen.path == part.path) {
                all.extend(plan_unrecorded(part.path, &part.content, untrust.as_ref()));
            }
        }
    }
    let config = TrustCleanup::config_file(environment);
    if let Some(untrust) = untrust
        && !all.iter().any(|file| file.path == config)
    {
        all.extend(plan_trust_removal(config, &untrust, book));
    }
    all
}

/// Plans the removal of trust records from Codex's config if nothing else in it is undone,
/// including those of a project's hooks. Its journal entry stays.
fn plan_trust_removal(
    path: PathBuf,
    untrust: &TrustCleanup,
    book: &UndoJournal,
) -> Option<FileUndo> {
    let now = disk::read(&path).ok().flatten()?;
    let text = std::str::from_utf8(&now).ok()?;
    let bare = untrust.remove_from(text, None).ok().filter(|bare| bare != text)?;
    let undone = match disk::check_writable(&path) {
        Ok(()) => UndoAction::Stripped(bare),
        Err(error) => UndoAction::Refused(SetupError::disk(&path)(error)),
    };
    let rest = book.entry(&path).cloned();
    Some(FileUndo { path, action: undone, current: Some(now), made: Vec::new(), remaining: rest })
}

fn plan_entry(
    entry: &UndoEntry,
    names: &BTreeSet<String>,
    book: &UndoJournal,
    untrust: Option<&TrustCleanup>,
) -> FileUndo {
    let path = entry.path.clone();
    let others: BTreeSet<String> = entry.agents.difference(names).cloned().collect();
    if !others.is_empty() {
        let why =
            format!("{} still uses it", others.iter().cloned().collect::<Vec<_>>().join(", "));
        let rest = Some(UndoEntry { agents: others, ..entry.clone() });
        let undone = UndoAction::Left(Some(why));
        return FileUndo { path, action: undone, current: None, made: Vec::new(), remaining: rest };
    }
    let (now, undone) = match disk::read(&path).map_err(SetupError::disk(&path)) {
        Ok(now) => {
            let undone = decide_action(entry, now.as_deref(), book, untrust);
            (now, undone.unwrap_or_else(UndoAction::Refused))
        }
        Err(error) => (None, UndoAction::Refused(error)),
    };
    let rest = matches!(undone, UndoAction::Refused(_)).then(|| entry.clone());
    FileUndo { path, action: undone, current: now, made: entry.made.clone(), remaining: rest }
}

fn decide_action(
    entry: &UndoEntry,
    now: Option<&[u8]>,
    book: &UndoJournal,
    untrust: Option<&TrustCleanup>,
) -> Result<UndoAction, SetupError> {
    let hash = now.map(content_hash);
    if hash == entry.before {
        return Ok(UndoAction::Left(None));
    }
    let Some(now) = now else {
        return Ok(UndoAction::Left(Some("deleted by you, left as it is".to_owned())));
    };
    disk::check_writable(&entry.path).map_err(SetupError::disk(&entry.path))?;
    let before = book.read_original(entry);
    if hash.as_ref() == Some(&entry.after) {
        return match before.map_err(SetupError::disk(&entry.path))? {
            Some(before) => Ok(UndoAction::Restored(before)),
            None => Ok(UndoAction::Deleted),
        };
    }
    if entry.form == FileFormat::Text {
        return Ok(UndoAction::Left(Some("changed by you, left as it is".to_owned())));
    }
    let before = before.ok().flatten().and_then(|before| String::from_utf8(before).ok());
    strip_tome_parts(&entry.path, &entry.form.to_content(), now, before.as_deref(), untrust)
}

/// Removes Tome's parts; deletes a file that Tome created if nothing else is left in it.
fn strip_tome_parts(
    path: &Path,
    form: &InstallContent,
    now: &[u8],
    before: Option<&str>,
    untrust: Option<&TrustCleanup>,
) -> Result<UndoAction, SetupError> {
    let refused = |cause| SetupError::Text { path: path.display().to_string(), cause };
    let text = std::str::from_utf8(now)
        .map_err(|_| refused(super::EditError::Shape("not UTF-8".to_owned())))?;
    let mut bare = edit::uninstall(form, text, before).map_err(refused)?;
    if let (InstallContent::Toml { .. }, Some(untrust)) = (form, untrust) {
        bare = untrust.remove_from(&bare, before).map_err(refused)?;
    }
    Ok(match before {
        _ if bare == text => UndoAction::Left(None),
        None if edit::is_blank(bare.as_bytes()) => UndoAction::Deleted,
        _ => UndoAction::Stripped(bare),
    })
}

/// Plans the undo of a file that has Tome's parts but no journal entry.
fn plan_unrecorded(
    path: PathBuf,
    form: &InstallContent,
    untrust: Option<&TrustCleanup>,
) -> Option<FileUndo> {
    let now = disk::read(&path).ok().flatten()?;
    let text = std::str::from_utf8(&now).ok()?;
    if !edit::contains_tome(form, text) {
        return None;
    }
    let undone = match form {
        InstallContent::Text { content, .. } if content == text => UndoAction::Deleted,
        InstallContent::Text { .. } => UndoAction::Left(Some("modified, left as it is".to_owned())),
        _ => strip_tome_parts(&path, form, &now, Some(""), untrust)
            .unwrap_or_else(UndoAction::Refused),
    };
    Some(FileUndo { path, action: undone, current: Some(now), made: Vec::new(), remaining: None })
}

/// Applies the undo. Returns the files that failed; their journal entries stay.
pub fn apply_undo(
    all: &[FileUndo],
    book: &mut UndoJournal,
) -> Result<Vec<SetupError>, std::io::Error> {
    let mut failed = Vec::new();
    for file in all {
        let done = match &file.action {
            UndoAction::Restored(bytes) => disk::write(&file.path, bytes),
            UndoAction::Stripped(text) => disk::write(&file.path, text.as_bytes()),
            UndoAction::Deleted => disk::delete(&file.path),
            UndoAction::Left(_) | UndoAction::Refused(_) => Ok(()),
        };
        match done {
            Ok(()) => match &file.remaining {
                Some(rest) => book.insert(rest.clone()),
                None => book.remove(&file.path),
            },
            Err(error) => failed.push(SetupError::disk(&file.path)(error)),
        }
    }
    remove_empty_folders(all.iter().flat_map(|file| &file.made).collect(), book);
    book.save()?;
    Ok(failed)
}

/// Removes folders that Tome created, innermost first. A folder that still contains another of
/// Tome's files is reassigned to that file's entry and removed with it.
fn remove_empty_folders(folders: BTreeSet<&PathBuf>, book: &mut UndoJournal) {
    for folder in folders.into_iter().rev() {
        if fs::remove_dir(folder).is_err() && folder.is_dir() {
            let heir = book.entries().iter().find(|entry| entry.path.starts_with(folder)).cloned();
            if let Some(mut heir) = heir.filter(|heir| !heir.made.contains(folder)) {
                heir.made.push(folder.clone());
                heir.made.sort();
                book.insert(heir);
            }
        }
    }
}
