//! The files of a backup: which ones it holds, and how they are cut into records.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, open_regular};
use tome_model::to_hex;

use super::BackupError;
use super::block::BlockWriter;
use super::paths::is_note;
use super::record::Record;

/// A part of a file in one record.
const PART_BYTES: usize = 512 * 1024;
/// A line of a history may be longer than a part; one that is longer than this is cut.
const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Folders below each other in a notebook.
const DEPTH_MAX: usize = 16;

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
