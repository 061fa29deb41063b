//! Compaction: rewrites the files without dead rows, in the same order, and renumbers the names.

use std::collections::HashMap;

use super::commit::Commit;
use super::head::Head;
use super::log::Record;
use super::row::{Layout, NAMED};
use super::store::{ROWS_AT_ONCE, Store, path, read};
use crate::FinderError;
use crate::files::damaged;

/// Smaller indexes are not compacted.
const ROWS_MIN: usize = 1_024;

/// Returns whether more than half of the rows are dead.
pub(super) fn is_worth_it(store: &Store) -> bool {
    let rows = store.table.rows();
    rows >= ROWS_MIN && store.table.live() < rows.div_ceil(2)
}

/// Writes the live rows to the files of the next generation and switches the head to them.
pub(super) fn compacted(store: &Store) -> Result<Store, FinderError> {
    let generation = store.head.generation + 1;
    let head = Head { generation, rows: 0, log_bytes: 0, ..store.head.clone() };
    let mut fresh = Store::create(store.folder(), head)?;
    let (log, names) = live_log(store)?;
    let mut commit = Commit { log, ..Commit::default() };
    let mut row = 0;
    // In blocks, to keep memory small.
    while row < store.head.rows {
        let rows = (store.head.rows - row).min(ROWS_AT_ONCE);
        live_rows(store, row, rows, &names, &mut commit)?;
        let head = fresh.put_aside(&commit)?;
        fresh.apply(&commit, head)?;
        commit = Commit::default();
        row += rows;
    }
    fresh.sync_folder()?;
    fresh.head.write(fresh.folder())?;
    fresh.remove_strays();
    Ok(fresh)
}

/// Returns the log records that still apply, and a map from old to new name numbers.
fn live_log(store: &Store) -> Result<(Vec<u8>, HashMap<u64, u64>), FinderError> {
    let path = path(store.folder(), "log", store.head.generation);
    let bytes = read(&store.log, &path, 0, store.head.log_bytes)?;
    let (mut log, mut names) = (Vec::new(), HashMap::new());
    let (mut rest, mut name) = (bytes.as_slice(), 0);
    while !rest.is_empty() {
        match Record::take(&mut rest).ok_or_else(|| damaged(&path, "is not whole"))? {
            Record::Name(text) => {
                if store.table.name_number(&text) == Some(name) {
                    names.insert(name, names.len() as u64);
                    Record::Name(text).put(&mut log);
                }
                name += 1;
            }
            Record::Gone(_) => {}
            Record::Tokens(Some(name), tokens) => {
                if let Some(name) = names.get(&name) {
                    Record::Tokens(Some(*name), tokens).put(&mut log);
                }
            }
            kept => kept.put(&mut log),
        }
    }
    Ok((log, names))
}

/// Appends the live rows of a range to the commit.
fn live_rows(
    store: &Store,
    first: u64,
    rows: u64,
    names: &HashMap<u64, u64>,
    commit: &mut Commit,
) -> Result<(), FinderError> {
    let layout: Layout = store.table.layout;
    let (signs_bytes, levels_bytes) = (layout.signs_bytes(), layout.levels_bytes());
    let stretch = |file, name: &str, row_bytes: usize| {
        let path = path(store.folder(), name, store.head.generation);
        let bytes = read(file, &path, first * row_bytes as u64, rows * row_bytes as u64);
        bytes.map(|bytes| (bytes, path))
    };
    let (signs, signs_path) = stretch(&store.signs, "signs", signs_bytes)?;
    let (levels, _) = stretch(&store.levels, "levels", levels_bytes)?;
    for (signs, levels) in signs.chunks(signs_bytes).zip(levels.chunks(levels_bytes)) {
        let (words, mut facts) =
            layout.take_signs(signs).ok_or_else(|| damaged(&signs_path, "is not whole"))?;
        if facts.key & NAMED != 0 {
            let Some(name) = names.get(&(facts.key & !NAMED)) else { continue };
            facts.key = name | NAMED;
        }
        layout.put_signs(&mut commit.signs, &words, &facts);
        commit.levels.extend_from_slice(levels);
    }
    Ok(())
}
