//! Compaction: rewrites the files without dead rows, in the same order, and renumbers the names.

use std::collections::HashMap;

use super::commit::CommitBytes;
use super::head::IndexHead;
use super::log::LogRecord;
use super::row::{NAMED_BIT, RowLayout};
use super::vector_files::{ROWS_AT_ONCE, VectorFiles, file_path, read_range};
use crate::FinderError;
use crate::files::damaged;

/// Smaller indexes are not compacted.
const ROWS_MIN: usize = 1_024;

/// Returns whether more than half of the rows are dead.
pub(super) fn should_compact(files: &VectorFiles) -> bool {
    let rows = files.table.row_count();
    rows >= ROWS_MIN && files.table.live_count() < rows.div_ceil(2)
}

/// Writes the live rows to the files of the next generation and switches the head to them.
pub(super) fn write_compacted(files: &VectorFiles) -> Result<VectorFiles, FinderError> {
    let generation = files.head.generation + 1;
    let head = IndexHead { generation, rows: 0, log_bytes: 0, ..files.head.clone() };
    let mut fresh = VectorFiles::create(files.folder(), head)?;
    let (log, names) = collect_live_records(files)?;
    let mut commit = CommitBytes { log, ..CommitBytes::default() };
    let mut row = 0;
    // In blocks, to keep memory small.
    while row < files.head.rows {
        let rows = (files.head.rows - row).min(ROWS_AT_ONCE);
        append_live_rows(files, row, rows, &names, &mut commit)?;
        let head = fresh.write_uncommitted(&commit)?;
        fresh.apply_commit(&commit, head)?;
        commit = CommitBytes::default();
        row += rows;
    }
    fresh.sync_folder()?;
    fresh.head.write(fresh.folder())?;
    fresh.remove_stale_files();
    Ok(fresh)
}

/// Returns the log records that still apply, and a map from old to new name numbers.
fn collect_live_records(files: &VectorFiles) -> Result<(Vec<u8>, HashMap<u64, u64>), FinderError> {
    let path = file_path(files.folder(), "log", files.head.generation);
    let bytes = read_range(&files.log, &path, 0, files.head.log_bytes)?;
    let (mut log, mut names) = (Vec::new(), HashMap::new());
    let (mut rest, mut name) = (bytes.as_slice(), 0);
    while !rest.is_empty() {
        match LogRecord::decode(&mut rest).ok_or_else(|| damaged(&path, "is not whole"))? {
            LogRecord::Name(text) => {
                if files.table.find_name(&text) == Some(name) {
                    names.insert(name, names.len() as u64);
                    LogRecord::Name(text).encode(&mut log);
                }
                name += 1;
            }
            LogRecord::NameRemoved(_) => {}
            LogRecord::Tokens(Some(name), tokens) => {
                if let Some(name) = names.get(&name) {
                    LogRecord::Tokens(Some(*name), tokens).encode(&mut log);
                }
            }
            kept => kept.encode(&mut log),
        }
    }
    Ok((log, names))
}

/// Appends the live rows of a range to the commit.
fn append_live_rows(
    files: &VectorFiles,
    first: u64,
    rows: u64,
    names: &HashMap<u64, u64>,
    commit: &mut CommitBytes,
) -> Result<(), FinderError> {
    let layout: RowLayout = files.table.layout;
    let (signs_bytes, levels_bytes) = (layout.signs_bytes(), layout.levels_bytes());
    let read_rows = |file, name: &str, row_bytes: usize| {
        let path = file_path(files.folder(), name, files.head.generation);
        let bytes = read_range(file, &path, first * row_bytes as u64, rows * row_bytes as u64);
        bytes.map(|bytes| (bytes, path))
    };
    let (signs, signs_path) = read_rows(&files.signs, "signs", signs_bytes)?;
    let (levels, _) = read_rows(&files.levels, "levels", levels_bytes)?;
    for (signs, levels) in signs.chunks(signs_bytes).zip(levels.chunks(levels_bytes)) {
        let (words, mut meta) =
            layout.decode_signs(signs).ok_or_else(|| damaged(&signs_path, "is not whole"))?;
        if meta.key & NAMED_BIT != 0 {
            let Some(name) = names.get(&(meta.key & !NAMED_BIT)) else { continue };
            meta.key = name | NAMED_BIT;
        }
        layout.encode_signs(&mut commit.signs, &words, &meta);
        commit.levels.extend_from_slice(levels);
    }
    Ok(())
}
