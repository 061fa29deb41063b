//! Adds a notebook of a backup to the one in the home.
//!
//! | history here | what happens |
//! | --- | --- |
//! | none, no folder | the backup's notebook is moved into place as a whole |
//! | is the beginning of that of the backup | the notes become those of the backup, then the rest is appended |
//! | another one, or the same | the backup's versions are added, then missing notes; differing ones are put beside (`name.restored.md`) |
//!
//! A note is only replaced if the history holds its content. What was a state of the note here is not
//! brought back: it was changed or deleted on purpose. A restore that is cut short is completed by the
//! next one: each step knows what is done already.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_home::{HomeError, sync_folder, write_atomic};
use tome_notebook::{HeldVersions, Notebook, move_if_free};

use super::files::list_notes;
use super::paths::{HISTORY, is_built};

/// Notes that are put beside one with the same name.
const BESIDE_MAX: u32 = 1_000;

/// The outcome of one notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MergedNotebook {
    /// Notes that were added or brought up to date.
    pub(crate) notes: u64,
    /// Notes that stay as they are: this home has them, or had them and changed them since.
    pub(crate) known: u64,
    pub(crate) beside: u64,
    /// Versions of notes that were added to a history.
    pub(crate) versions: u64,
    /// The notes that were put beside others: the path of the other, by path.
    copies: BTreeMap<String, String>,
}

/// The history of a notebook here, in its folder.
const OWN_HISTORY: &str = "history.jsonl";

/// How the history here compares with that of the backup.
enum Relation {
    Missing,
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
    let count = notes.iter().filter(|note| !is_built(note)).count() as u64;
    if !root.exists() && history_folder.starts_with(&root) {
        if let Some(parent) = root.parent() {
            std::fs::create_dir_all(parent).map_err(HomeError::file("create", parent))?;
        }
        match move_if_free(staged, &root) {
            Ok(()) => {
                sync_parents(&root).map_err(HomeError::file("sync", &root))?;
                return Ok(MergedNotebook { notes: count, ..MergedNotebook::default() });
            }
            // Another process has just created it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(HomeError::file("move into", &root)(error)),
        }
    }
    // Edits made outside have to be in the history before it is compared.
    notebook.refresh()?;
    let theirs = staged.join(HISTORY);
    let relation = compare_histories(&history_folder.join(OWN_HISTORY), &theirs);
    let mut versions = 0;
    if matches!(relation, Ok(Relation::Other)) {
        for history in list_kept_histories(history_folder).into_iter().chain([theirs]) {
            versions += notebook.import_history(&history)?;
        }
    }
    let merged = notebook.run_locked(|| merge_locked(&root, history_folder, staged, &notes))?;
    notebook.refresh_with_copies(&merged.copies)?;
    let known = count.saturating_sub(merged.notes + merged.beside);
    Ok(MergedNotebook { known, versions: merged.versions + versions, ..merged })
}

/// Histories that earlier versions of Tome kept as files of their own when they restored a backup.
fn list_kept_histories(history_folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(history_folder).into_iter().flatten().flatten();
    let is_kept = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("restored-") && name.ends_with(".jsonl") && file_len(path).is_some()
    };
    entries.map(|entry| entry.path()).filter(is_kept).collect()
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
    let (theirs, ours) = (staged.join(HISTORY), history_folder.join(OWN_HISTORY));
    let mut merged = MergedNotebook::default();
    let read_held = |history: &Path| HeldVersions::read(history).map_err(io::Error::other);
    match compare_histories(&ours, &theirs)? {
        Relation::Continues(known) => {
            for note in notes {
                let is_replaced = replace_note(root, staged, note)?;
                merged.notes += u64::from(is_replaced && !is_built(note));
            }
            // The notes of a notebook in the repository are not in a backup, only its history is.
            let there = read_held(&theirs)?;
            for note in list_notes(root) {
                if !notes.contains(&note) && there.is_deleted(&note) {
                    std::fs::remove_file(root.join(&note))?;
                }
            }
            merged.versions = append_from(&theirs, known, &ours)?;
        }
        Relation::Missing => {
            add_notes(root, staged, notes, &HeldVersions::default(), &mut merged)?;
            if theirs.is_file() {
                std::fs::create_dir_all(history_folder)?;
                append_from(&theirs, 0, &ours)?;
            }
        }
        Relation::Other => {
            add_notes(root, staged, notes, &read_held(&ours)?, &mut merged)?;
        }
    }
    Ok(merged)
}

/// Adds the notes that are missing, and puts those that differ beside the ones here. What a note `held`
/// already is left out.
fn add_notes(
    root: &Path,
    staged: &Path,
    notes: &[String],
    held: &HeldVersions,
    merged: &mut MergedNotebook,
) -> io::Result<()> {
    for note in notes {
        let from = staged.join(note);
        let content = std::fs::read(&from)?;
        let Some(to) = note_path(root, note)? else { continue };
        // A note that was put beside another may be one that this home has under its own name.
        let is_held = [Some(note.as_str()), original_name(note).as_deref()]
            .into_iter()
            .flatten()
            .any(|note| held.contains(note, &content));
        if is_held || is_same(&to, &from)? {
            continue;
        }
        if !to.exists() {
            std::fs::rename(&from, &to)?;
            sync_parents(&to)?;
            merged.notes += u64::from(!is_built(note));
        } else if !is_built(note) {
            put_beside(root, note, &from, &content, held, merged)?;
        }
    }
    Ok(())
}

/// The name of a note that was put beside another with that name.
fn original_name(note: &str) -> Option<String> {
    let (stem, mark) = note.strip_suffix(".md")?.rsplit_once(".restored")?;
    let number = mark.strip_prefix('-').unwrap_or(mark);
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{stem}.md"))
}

/// Puts a note beside the one with its name, unless that was done before.
fn put_beside(
    root: &Path,
    note: &str,
    from: &Path,
    content: &[u8],
    held: &HeldVersions,
    merged: &mut MergedNotebook,
) -> io::Result<()> {
    let stem = note.strip_suffix(".md").unwrap_or(note);
    for number in 1..=BESIDE_MAX {
        let beside = match number {
            1 => format!("{stem}.restored.md"),
            number => format!("{stem}.restored-{number}.md"),
        };
        let to = root.join(&beside);
        if held.contains(&beside, content) || is_same(&to, from)? {
            return Ok(());
        }
        if std::fs::symlink_metadata(&to).is_err() {
            std::fs::rename(from, &to)?;
            sync_parents(&to)?;
            merged.beside += 1;
            merged.copies.insert(beside, note.to_owned());
            return Ok(());
        }
    }
    Err(io::Error::other(format!("{BESIDE_MAX} notes are beside {note} already")))
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
    Ok(if theirs_bytes <= ours_bytes { Relation::Other } else { Relation::Continues(shared) })
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

/// Appends the rest of a history, synced. Returns the number of its lines.
fn append_from(from: &Path, known: u64, to: &Path) -> io::Result<u64> {
    let mut from = File::open(from)?;
    from.seek(SeekFrom::Start(known))?;
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    if known == 0 {
        // A history that appears appears as a whole.
        write_atomic(to, &bytes).map_err(io::Error::other)?;
        return Ok(lines);
    }
    let mut to = File::options().append(true).open(to)?;
    to.write_all(&bytes)?;
    to.sync_all()?;
    Ok(lines)
}

fn sync_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}
