//! Undoes an installation.
//!
//! A file that is still as Tome left it is restored byte for byte, or deleted if it did not exist
//! before, together with folders that were created for it and are empty. A file that changed since
//! loses only Tome's parts. So does a file that has Tome's parts but no record (another home,
//! installed by hand).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::record::{Book, Entry, Shape, hash_of};
use super::untrust::Untrust;
use super::{Form, Ground, SetupError, disk, edit};
use crate::agents::wiring::Client;

#[derive(Debug)]
pub struct Undoing {
    pub path: PathBuf,
    pub undone: Undone,
    /// The current content.
    pub now: Option<Vec<u8>>,
    /// Folders to remove if empty, outermost first.
    made: Vec<PathBuf>,
    /// The journal entry to keep; `None` if everything is undone.
    rest: Option<Entry>,
}

#[derive(Debug)]
pub enum Undone {
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
pub fn undoing(clients: &[&'static Client], ground: &Ground<'_>, book: &Book) -> Vec<Undoing> {
    let names: BTreeSet<String> = clients.iter().map(|client| client.name.to_owned()).collect();
    let mut all = Vec::new();
    let is_meant = |entry: &&Entry| {
        !entry.agents.is_disjoint(&names)
            && (ground.project.is_none() || entry.project == ground.project)
    };
    let meant: Vec<&Entry> = book.entries().iter().filter(is_meant).collect();
    let of_codex = meant.iter().filter(|entry| entry.agents.contains("codex"));
    let untrust = names
        .contains("codex")
        .then(|| Untrust::of(ground, of_codex.map(|entry| entry.path.as_path())));
    for entry in meant {
        all.push(of_entry(entry, &names, book, untrust.as_ref()));
    }
    for client in clients {
        for part in (client.parts)(ground) {
            let known = book.entry(&part.path).is_some();
            if !known && !all.iter().any(|seen| seen.path == part.path) {
                all.extend(unrecorded(part.path, &part.form, untrust.as_ref()));
            }
        }
    }
    let config = Untrust::config_file(ground);
    if let Some(untrust) = untrust
        && !all.iter().any(|file| file.path == config)
    {
        all.extend(untrusted(config, &untrust, book));
    }
    all
}

/// Plans the removal of trust records from Codex's config if nothing else in it is undone,
/// including those of a project's hooks. Its journal entry stays.
fn untrusted(path: PathBuf, untrust: &Untrust, book: &Book) -> Option<Undoing> {
    let now = disk::read(&path).ok().flatten()?;
    let text = std::str::from_utf8(&now).ok()?;
    let bare = untrust.remove_from(text, None).ok().filter(|bare| bare != text)?;
    let undone = match disk::may_write(&path) {
        Ok(()) => Undone::Stripped(bare),
        Err(error) => Undone::Refused(SetupError::disk(&path)(error)),
    };
    let rest = book.entry(&path).cloned();
    Some(Undoing { path, undone, now: Some(now), made: Vec::new(), rest })
}

fn of_entry(
    entry: &Entry,
    names: &BTreeSet<String>,
    book: &Book,
    untrust: Option<&Untrust>,
) -> Undoing {
    let path = entry.path.clone();
    let others: BTreeSet<String> = entry.agents.difference(names).cloned().collect();
    if !others.is_empty() {
        let why =
            format!("{} still uses it", others.iter().cloned().collect::<Vec<_>>().join(", "));
        let rest = Some(Entry { agents: others, ..entry.clone() });
        let undone = Undone::Left(Some(why));
        return Undoing { path, undone, now: None, made: Vec::new(), rest };
    }
    let (now, undone) = match disk::read(&path).map_err(SetupError::disk(&path)) {
        Ok(now) => {
            let undone = undone(entry, now.as_deref(), book, untrust);
            (now, undone.unwrap_or_else(Undone::Refused))
        }
        Err(error) => (None, Undone::Refused(error)),
    };
    let rest = matches!(undone, Undone::Refused(_)).then(|| entry.clone());
    Undoing { path, undone, now, made: entry.made.clone(), rest }
}

fn undone(
    entry: &Entry,
    now: Option<&[u8]>,
    book: &Book,
    untrust: Option<&Untrust>,
) -> Result<Undone, SetupError> {
    let hash = now.map(hash_of);
    if hash == entry.before {
        return Ok(Undone::Left(None));
    }
    let Some(now) = now else {
        return Ok(Undone::Left(Some("deleted by you, left as it is".to_owned())));
    };
    disk::may_write(&entry.path).map_err(SetupError::disk(&entry.path))?;
    let before = book.before(entry);
    if hash.as_ref() == Some(&entry.after) {
        return match before.map_err(SetupError::disk(&entry.path))? {
            Some(before) => Ok(Undone::Restored(before)),
            None => Ok(Undone::Deleted),
        };
    }
    if entry.form == Shape::Text {
        return Ok(Undone::Left(Some("changed by you, left as it is".to_owned())));
    }
    let before = before.ok().flatten().and_then(|before| String::from_utf8(before).ok());
    stripped(&entry.path, &entry.form.to_form(), now, before.as_deref(), untrust)
}

/// Removes Tome's parts; deletes a file that Tome created if nothing else is left in it.
fn stripped(
    path: &Path,
    form: &Form,
    now: &[u8],
    before: Option<&str>,
    untrust: Option<&Untrust>,
) -> Result<Undone, SetupError> {
    let refused = |cause| SetupError::Text { path: path.display().to_string(), cause };
    let text = std::str::from_utf8(now)
        .map_err(|_| refused(super::EditError::Shape("not UTF-8".to_owned())))?;
    let mut bare = edit::unwire(form, text, before).map_err(refused)?;
    if let (Form::Toml { .. }, Some(untrust)) = (form, untrust) {
        bare = untrust.remove_from(&bare, before).map_err(refused)?;
    }
    Ok(match before {
        _ if bare == text => Undone::Left(None),
        None if edit::is_nothing(bare.as_bytes()) => Undone::Deleted,
        _ => Undone::Stripped(bare),
    })
}

/// Plans the undo of a file that has Tome's parts but no journal entry.
fn unrecorded(path: PathBuf, form: &Form, untrust: Option<&Untrust>) -> Option<Undoing> {
    let now = disk::read(&path).ok().flatten()?;
    let text = std::str::from_utf8(&now).ok()?;
    if !edit::holds_ours(form, text) {
        return None;
    }
    let undone = match form {
        Form::Text { content, .. } if content == text => Undone::Deleted,
        Form::Text { .. } => Undone::Left(Some("modified, left as it is".to_owned())),
        _ => stripped(&path, form, &now, Some(""), untrust).unwrap_or_else(Undone::Refused),
    };
    Some(Undoing { path, undone, now: Some(now), made: Vec::new(), rest: None })
}

/// Applies the undo. Returns the files that failed; their journal entries stay.
pub fn undo(all: &[Undoing], book: &mut Book) -> Result<Vec<SetupError>, std::io::Error> {
    let mut failed = Vec::new();
    for file in all {
        let done = match &file.undone {
            Undone::Restored(bytes) => disk::write(&file.path, bytes),
            Undone::Stripped(text) => disk::write(&file.path, text.as_bytes()),
            Undone::Deleted => disk::delete(&file.path),
            Undone::Left(_) | Undone::Refused(_) => Ok(()),
        };
        match done {
            Ok(()) => match &file.rest {
                Some(rest) => book.put(rest.clone()),
                None => book.forget(&file.path),
            },
            Err(error) => failed.push(SetupError::disk(&file.path)(error)),
        }
    }
    clear_folders(all.iter().flat_map(|file| &file.made).collect(), book);
    book.save()?;
    Ok(failed)
}

/// Removes folders that Tome created, innermost first. A folder that still contains another of
/// Tome's files is reassigned to that file's entry and removed with it.
fn clear_folders(folders: BTreeSet<&PathBuf>, book: &mut Book) {
    for folder in folders.into_iter().rev() {
        if fs::remove_dir(folder).is_err() && folder.is_dir() {
            let heir = book.entries().iter().find(|entry| entry.path.starts_with(folder)).cloned();
            if let Some(mut heir) = heir.filter(|heir| !heir.made.contains(folder)) {
                heir.made.push(folder.clone());
                heir.made.sort();
                book.put(heir);
            }
        }
    }
}
