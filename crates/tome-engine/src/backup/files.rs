//! The files of a backup: which ones it holds, and how they are cut into records.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, open_regular};

use super::BackupError;
use super::block::BlockWriter;
use super::record::{Record, to_hex};

/// A part of a file in one record.
const PART_BYTES: usize = 512 * 1024;
/// A line of a history may be longer than a part; one that is longer than this is cut.
const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Folders below each other in a notebook.
const DEPTH_MAX: usize = 16;
/// The history of a notebook, relative to its folder.
pub(crate) const HISTORY: &str = ".history/history.jsonl";

/// The home, project or notebook that a file belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileOwner<'a> {
    pub(crate) project: Option<&'a str>,
}

/// Lists the notes below a folder, relative to it. Hidden entries and links are left out.
pub(crate) fn list_notes(folder: &Path) -> Vec<String> {
    let mut notes = list_below(folder, DEPTH_MAX);
    notes.retain(|path| is_note(path));
    notes
}

/// Lists the regular files below a folder, relative to it.
pub(crate) fn list_below(folder: &Path, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, String, usize)> =
        vec![(folder.to_path_buf(), String::new(), depth)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (Ok(kind), Some(name)) =
                (entry.file_type(), entry.file_name().to_str().map(str::to_owned))
            else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            if kind.is_dir() && depth > 0 {
                open.push((entry.path(), path, depth - 1));
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether a path in a notebook is that of a note.
fn is_note(path: &str) -> bool {
    path.ends_with(".md") && !path.split('/').any(|part| part.starts_with('.'))
}

/// Whether a file is an index, which is built from the notes and is none itself.
pub(crate) fn is_built(path: &str) -> bool {
    path == "MEMORY.md" || path.ends_with("README.md")
}

/// Whether a notebook's backup may hold this path.
pub(crate) fn belongs_to_notebook(path: &str) -> bool {
    path == HISTORY || is_note(path)
}

/// Whether a file outside of notebooks may be in a backup.
pub(crate) fn is_kept_file(has_project: bool, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match (has_project, parts.as_slice()) {
        (true, ["injections.jsonl" | "injections.old.jsonl" | "topics.json"])
        | (true, ["sessions", _, "messages.kept.jsonl"])
        | (false, ["pauses.jsonl"]) => true,
        (true, ["memory", ".moved", rest @ ..]) => !rest.is_empty(),
        _ => false,
    }
}

/// Whether a notebook can be in this folder.
fn is_notebook_folder(has_project: bool, folder: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').collect();
    matches!(
        (has_project, parts.as_slice()),
        (false, ["coder"]) | (true, ["memory"] | ["sessions", _, "working-memory"])
    )
}

/// Refuses records whose paths lead elsewhere.
pub(crate) fn check_record(record: &Record) -> Result<(), BackupError> {
    match record {
        Record::Notebook { project, folder } => {
            check_path(folder)?;
            if is_notebook_folder(project.is_some(), folder) {
                Ok(())
            } else {
                Err(BackupError::Path(folder.clone()))
            }
        }
        Record::File { path, project, .. } => {
            check_path(path)?;
            if belongs_to_notebook(path) || is_kept_file(project.is_some(), path) {
                Ok(())
            } else {
                Err(BackupError::Path(path.clone()))
            }
        }
        _ => Ok(()),
    }
}

/// Accepts relative paths of plain names only.
pub(crate) fn check_path(path: &str) -> Result<(), BackupError> {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part.len() <= 255
            && !part.contains(|c: char| matches!(c, '\\' | ':' | '\0') || c.is_control())
    };
    if !path.is_empty() && path.len() <= 4096 && path.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(BackupError::Path(tome_model::truncate_to(path, 200).to_owned()))
    }
}

/// Writes the parts of a file. Skips a file that is missing or not a regular one. Takes only
/// complete lines from a file of lines, because a writer may be appending.
pub(crate) fn push_file(
    out: &mut BlockWriter<'_>,
    owner: FileOwner<'_>,
    path: &str,
    file: &Path,
) -> Result<(), BackupError> {
    let Ok(mut file) = open_regular(file, FinalLink::Refuse) else { return Ok(()) };
    let has_lines = path.ends_with(".jsonl");
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let read = read_part(&mut file, &mut buffer)?;
        let is_end = read == 0;
        let whole = match (has_lines, buffer.iter().rposition(|byte| *byte == b'\n')) {
            (true, Some(last)) => last + 1,
            (true, None) if is_end || buffer.len() < LINE_BYTES_MAX => 0,
            (false, _) if !is_end => whole_chars(&buffer),
            _ => buffer.len(),
        };
        let rest = buffer.split_off(whole);
        if !buffer.is_empty() || is_end {
            out.push(&build_file_part(owner, path, &buffer, is_end))?;
        }
        buffer = rest;
        if is_end {
            return Ok(());
        }
    }
}

fn read_part(file: &mut File, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    file.take(PART_BYTES as u64).read_to_end(buffer)
}

/// The length without a character that the end of the buffer cuts.
fn whole_chars(buffer: &[u8]) -> usize {
    match std::str::from_utf8(buffer) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => buffer.len(),
    }
}

fn build_file_part(owner: FileOwner<'_>, path: &str, bytes: &[u8], last: bool) -> Record {
    let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
    Record::File {
        project: owner.project.map(str::to_owned),
        path: path.to_owned(),
        last,
        hex: text.is_none().then(|| to_hex(bytes)),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_a_home_has_are_accepted() {
        for path in ["../x.md", "/etc/x.md", "a//b.md", "a/./b.md", "a\\..\\b.md", "c:x.md", ""] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert!(check_path("facts/user.md").is_ok());
        assert!(belongs_to_notebook("facts/user.md") && belongs_to_notebook(HISTORY));
        assert!(!belongs_to_notebook(".history/turn") && !belongs_to_notebook("x.sh"));
        assert!(is_kept_file(true, "memory/.moved/history.jsonl"));
        assert!(!is_kept_file(true, "ledger/STORE") && !is_kept_file(false, "run/token"));
        assert!(!is_notebook_folder(true, "coder") && is_notebook_folder(false, "coder"));
    }
}
