//! Adds a notebook of a backup to the one in the home.
//!
//! | history here | what happens |
//! | --- | --- |
//! | none, no folder | the backup's notebook is moved into place as a whole |
//! | holds that of the backup | nothing: all of it is known |
//! | is the beginning of that of the backup | the notes become those of the backup, then the rest is appended |
//! | another one | missing notes are added, differing ones are put beside (`name.restored.md`), and the backup's history is kept as `.history/restored-<hash>.jsonl` |
//!
//! A note is only replaced if the history holds its content. Notes are written before the history, so
//! that a restore that is cut short is completed by the next one.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_home::{HomeError, sync_folder, write_atomic};
use tome_notebook::{Notebook, move_if_free};

use super::files::list_notes;
use super::paths::{HISTORY, is_built};

/// The outcome of one notebook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MergedNotebook {
    pub(crate) notes: u64,
    pub(crate) beside: u64,
}

/// How the history here compares with that of the backup.
enum Relation {
    Missing,
    Known,
    /// The backup goes on after this many bytes.
    Continues(u64),
    Other,
}

pub(crate) fn merge_notebook(
    notebook: &Notebook,
    history_folder: &Path,
    staged: &Path,
) -> Result<MergedNotebook, HomeError> {
    let root = notebook.root().to_path_buf();
    let notes = list_notes(staged);
    if !root.exists() && history_folder.starts_with(&root) {
        if let Some(parent) = root.parent() {
            std::fs::create_dir_all(parent).map_err(HomeError::file("create", parent))?;
        }
        match move_if_free(staged, &root) {
            Ok(()) => {
                let count = notes.iter().filter(|note| !is_built(note)).count() as u64;
                sync_parents(&root).map_err(HomeError::file("sync", &root))?;
                return Ok(MergedNotebook { notes: count, beside: 0 });
            }
            // Another process has just created it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(HomeError::file("move into", &root)(error)),
        }
    }
    // Edits made outside have to be in the history before it is compared.
    notebook.refresh()?;
    let merged = notebook.run_locked(|| merge_locked(&root, history_folder, staged, &notes))?;
    notebook.refresh()?;
    Ok(merged)
}

/// Copies a notebook to a folder of its own, from where it can be merged. Returns whether it holds anything.
pub(crate) fn copy_notebook(from: &Path, to: &Path) -> io::Result<bool> {
    match std::fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut paths = list_notes(from);
    if file_len(&from.join(HISTORY)).is_some() {
        paths.push(HISTORY.to_owned());
    }
    for path in &paths {
        let goal = to.join(path);
        if let Some(folder) = goal.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::copy(from.join(path), &goal)?;
        File::open(&goal)?.sync_all()?;
    }
    Ok(!paths.is_empty())
}

fn merge_locked(
    root: &Path,
    history_folder: &Path,
    staged: &Path,
    notes: &[String],
) -> io::Result<MergedNotebook> {
    let (theirs, ours) = (staged.join(HISTORY), history_folder.join("history.jsonl"));
    let mut merged = MergedNotebook::default();
    match compare_histories(&ours, &theirs)? {
        Relation::Known => {}
        Relation::Continues(known) => {
            for note in notes {
                let is_replaced = replace_note(root, staged, note)?;
                merged.notes += u64::from(is_replaced && !is_built(note));
            }
            for note in list_notes(root) {
                if !notes.contains(&note) {
                    std::fs::remove_file(root.join(&note))?;
                }
            }
            append_from(&theirs, known, &ours)?;
        }
        Relation::Missing => {
            add_notes(root, staged, notes, &mut merged)?;
            if theirs.is_file() {
                std::fs::create_dir_all(history_folder)?;
                append_from(&theirs, 0, &ours)?;
            }
        }
        Relation::Other => {
            let kept = history_folder.join(format!("restored-{}.jsonl", hash_file(&theirs)?));
            if kept.exists() {
                return Ok(merged);
            }
            add_notes(root, staged, notes, &mut merged)?;
            if theirs.is_file() {
                std::fs::rename(&theirs, &kept)?;
                sync_folder(history_folder)?;
            }
        }
    }
    Ok(merged)
}

/// Adds the notes that are missing, and puts those that differ beside the ones here.
fn add_notes(
    root: &Path,
    staged: &Path,
    notes: &[String],
    merged: &mut MergedNotebook,
) -> io::Result<()> {
    for note in notes {
        let Some(to) = note_path(root, note)? else { continue };
        if !to.exists() {
            std::fs::rename(staged.join(note), &to)?;
            sync_parents(&to)?;
            merged.notes += u64::from(!is_built(note));
        } else if !is_same(&to, &staged.join(note))? && !is_built(note) {
            let beside = to.with_extension("restored.md");
            if !beside.exists() {
                std::fs::rename(staged.join(note), &beside)?;
                sync_parents(&beside)?;
                merged.beside += 1;
            }
        }
    }
    Ok(())
}

/// Replaces a note whose content the history holds. Returns whether it changed.
fn replace_note(root: &Path, staged: &Path, note: &str) -> io::Result<bool> {
    let Some(to) = note_path(root, note)? else { return Ok(false) };
    if to.exists() && is_same(&to, &staged.join(note))? {
        return Ok(false);
    }
    std::fs::rename(staged.join(note), &to)?;
    sync_parents(&to)?;
    Ok(true)
}

/// The path of a note, with its folders created; `None` if a link or a file is in the way.
fn note_path(root: &Path, note: &str) -> io::Result<Option<PathBuf>> {
    let mut path = root.to_path_buf();
    let mut parts = note.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let found = std::fs::symlink_metadata(&path);
        match (parts.peek(), found) {
            (Some(_), Ok(found)) if !found.is_dir() => return Ok(None),
            (Some(_), Err(_)) => std::fs::create_dir(&path)?,
            (None, Ok(found)) if !found.is_file() => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(path))
}

fn compare_histories(ours: &Path, theirs: &Path) -> io::Result<Relation> {
    let (ours_bytes, theirs_bytes) = (file_len(ours), file_len(theirs));
    let (Some(ours_bytes), Some(theirs_bytes)) = (ours_bytes, theirs_bytes) else {
        return Ok(match ours_bytes {
            None | Some(0) => Relation::Missing,
            Some(_) => Relation::Other,
        });
    };
    if ours_bytes == 0 {
        return Ok(Relation::Missing);
    }
    let shared = ours_bytes.min(theirs_bytes);
    if !is_same_up_to(ours, theirs, shared)? {
        return Ok(Relation::Other);
    }
    Ok(if theirs_bytes <= ours_bytes { Relation::Known } else { Relation::Continues(shared) })
}

fn file_len(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file).map(|it| it.len())
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    match (file_len(one), file_len(other)) {
        (Some(a), Some(b)) if a == b => is_same_up_to(one, other, a),
        _ => Ok(false),
    }
}

fn is_same_up_to(one: &Path, other: &Path, bytes: u64) -> io::Result<bool> {
    Ok(hash_up_to(one, bytes)? == hash_up_to(other, bytes)?)
}

fn hash_up_to(path: &Path, bytes: u64) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut from = BufReader::new(File::open(path)?).take(bytes);
    io::copy(&mut from, &mut hasher)?;
    Ok(hasher.finalize())
}

fn hash_file(path: &Path) -> io::Result<String> {
    let hash = match file_len(path) {
        Some(bytes) => hash_up_to(path, bytes)?,
        None => blake3::hash(b""),
    };
    Ok(hash.to_hex().chars().take(12).collect())
}

/// Appends the rest of a history, synced.
fn append_from(from: &Path, known: u64, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    from.seek(SeekFrom::Start(known))?;
    if known == 0 {
        // A history that appears appears as a whole.
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        return write_atomic(to, &bytes).map_err(io::Error::other);
    }
    let mut to = File::options().append(true).open(to)?;
    io::copy(&mut from, &mut to)?;
    to.flush()?;
    to.sync_all()
}

fn sync_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}
