//! The files of an index, and how a commit is written to them.
//!
//! ```text
//! head             see `head.rs`: committed length of the other files
//! log-1            see `log.rs`
//! signs-1          see `row.rs`; read completely on open
//! levels-1         see `row.rs`; read for the best candidates only
//! ```
//!
//! A commit appends after the committed lengths, syncs, and replaces the head. Opening an index
//! truncates everything beyond the head's lengths. The number in the file names is the generation:
//! when more than half of the rows are dead, compaction writes the files of the next generation and
//! switches the head to them.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::commit::CommitBytes;
use super::head::{HEAD, IndexHead};
use super::row::{RowDecoder, RowLayout};
use super::table::RowTable;
use crate::FinderError;
use crate::files::{
    create_file, damaged, io_failed, open_file, read_at, sync_folder, write_synced_at,
};

/// Rows per read or write when all rows are processed.
pub(super) const ROWS_AT_ONCE: u64 = 4_096;

/// Rows at most this far apart are read together, and at most this many at once.
const NEAR_ROWS: u32 = 8;
const ROWS_READ_MAX: usize = 256;

/// An open index: its files and their in-memory representation.
#[derive(Debug)]
pub(super) struct VectorFiles {
    folder: PathBuf,
    pub(super) head: IndexHead,
    pub(super) table: RowTable,
    pub(super) log: File,
    pub(super) signs: File,
    pub(super) levels: File,
}

pub(super) fn file_path(folder: &Path, file: &str, generation: u64) -> PathBuf {
    folder.join(format!("{file}-{generation}"))
}

impl VectorFiles {
    /// Creates the files of an empty index. Does not write the head.
    pub(super) fn create(folder: &Path, head: IndexHead) -> Result<Self, FinderError> {
        let file = |name: &str| {
            let path = file_path(folder, name, head.generation);
            create_file(&path).map_err(|error| io_failed(&path, &error))
        };
        let (log, signs, levels) = (file("log")?, file("signs")?, file("levels")?);
        let table = RowTable::new(RowLayout { dimensions: head.dimensions });
        Ok(Self { folder: folder.to_owned(), table, log, signs, levels, head })
    }

    /// Opens the files of a head and loads the in-memory part.
    pub(super) fn open(folder: &Path, head: IndexHead) -> Result<Self, FinderError> {
        let layout = RowLayout { dimensions: head.dimensions };
        let file = |name: &str, bytes: Option<u64>| {
            let path = file_path(folder, name, head.generation);
            open_truncated(&path, bytes.ok_or_else(|| damaged(&path, "has an impossible length"))?)
        };
        let log = file("log", Some(head.log_bytes))?;
        let signs = file("signs", head.rows.checked_mul(layout.signs_bytes() as u64))?;
        let levels = file("levels", head.rows.checked_mul(layout.levels_bytes() as u64))?;
        let table = RowTable::new(layout);
        let mut files = Self { folder: folder.to_owned(), table, log, signs, levels, head };
        files.load_table()?;
        files.remove_stale_files();
        Ok(files)
    }

    fn load_table(&mut self) -> Result<(), FinderError> {
        let log_path = file_path(&self.folder, "log", self.head.generation);
        let log = read_range(&self.log, &log_path, 0, self.head.log_bytes)?;
        let read_log_range = |range: Range<u64>| {
            let (from, to) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
            log.get(from..to).map(<[u8]>::to_vec)
        };
        let problem = || damaged(&log_path, "is corrupt");
        self.table.replay_log(&log, 0, &read_log_range).ok_or_else(problem)?;
        drop(log);
        let signs_path = file_path(&self.folder, "signs", self.head.generation);
        let row_bytes = self.table.layout.signs_bytes() as u64;
        let mut row = 0;
        while row < self.head.rows {
            let rows = (self.head.rows - row).min(ROWS_AT_ONCE);
            let signs = read_range(&self.signs, &signs_path, row * row_bytes, rows * row_bytes)?;
            self.table.replay_rows(&signs).ok_or_else(|| damaged(&signs_path, "is corrupt"))?;
            row += rows;
        }
        Ok(())
    }

    /// Appends the data of a commit, which takes effect once the returned head is written.
    pub(super) fn write_uncommitted(&self, commit: &CommitBytes) -> Result<IndexHead, FinderError> {
        let layout = self.table.layout;
        let (signs_bytes, levels_bytes) = (layout.signs_bytes(), layout.levels_bytes());
        let write = |file: &File, name: &str, bytes: &[u8], at: u64| {
            let path = file_path(&self.folder, name, self.head.generation);
            write_synced_at(file, bytes, at).map_err(|error| io_failed(&path, &error))
        };
        write(&self.log, "log", &commit.log, self.head.log_bytes)?;
        write(&self.levels, "levels", &commit.levels, self.head.rows * levels_bytes as u64)?;
        write(&self.signs, "signs", &commit.signs, self.head.rows * signs_bytes as u64)?;
        Ok(IndexHead {
            rows: self.head.rows + (commit.signs.len() / signs_bytes) as u64,
            log_bytes: self.head.log_bytes + commit.log.len() as u64,
            ..self.head.clone()
        })
    }

    /// Writes a commit atomically. Does not update the in-memory table; see [`Self::apply_commit`].
    pub(super) fn write_commit(
        &self,
        commit: &CommitBytes,
        cursor: &str,
    ) -> Result<IndexHead, FinderError> {
        let head = IndexHead { cursor: cursor.to_owned(), ..self.write_uncommitted(commit)? };
        head.write(&self.folder)?;
        Ok(head)
    }

    /// Updates the in-memory table with a commit that has been written.
    pub(super) fn apply_commit(
        &mut self,
        commit: &CommitBytes,
        head: IndexHead,
    ) -> Result<(), FinderError> {
        let from = self.head.log_bytes;
        self.head = head;
        let path = file_path(&self.folder, "log", self.head.generation);
        let file = &self.log;
        let read_log_range =
            |range: Range<u64>| read_range(file, &path, range.start, range.end - range.start).ok();
        self.table
            .replay_log(&commit.log, from, &read_log_range)
            .and_then(|()| self.table.replay_rows(&commit.signs))
            .ok_or_else(|| damaged(&self.folder, "does not match the data just written"))
    }

    /// Cosine similarities of a unit query vector and some rows.
    pub(super) fn compute_similarities(
        &self,
        query_vector: &[f32],
        rows: &[u32],
    ) -> Result<Vec<f32>, FinderError> {
        let row_bytes = self.table.layout.levels_bytes();
        let reader = RowDecoder::shared();
        let mut similarities = Vec::with_capacity(rows.len());
        let mut levels = Vec::new();
        // Rows close to each other are read at once: a small index in a few calls.
        let is_near = |a: &u32, b: &u32| b >= a && b - a <= NEAR_ROWS;
        for group in rows.chunk_by(is_near).flat_map(|group| group.chunks(ROWS_READ_MAX)) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            levels.resize((last - first + 1) as usize * row_bytes, 0);
            let at = u64::from(*first) * row_bytes as u64;
            read_at(&self.levels, &mut levels, at).map_err(|error| {
                damaged(&file_path(&self.folder, "levels", self.head.generation), error.to_string())
            })?;
            for row in group {
                let from = (row - first) as usize * row_bytes;
                let signs = self.table.signs.row_bytes(*row as usize);
                let levels = levels.get(from..from + row_bytes).unwrap_or_default();
                let similarity = reader.similarity(query_vector, &signs, levels);
                let problem = || damaged(&self.folder, format!("row {row} is corrupt"));
                similarities.push(similarity.ok_or_else(problem)?);
            }
        }
        Ok(similarities)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether the files exist with at least the expected lengths, under the head last
    /// written.
    pub(super) fn is_intact(&self) -> bool {
        let layout = self.table.layout;
        let has_length = |name: &str, bytes: u64| {
            std::fs::metadata(file_path(&self.folder, name, self.head.generation))
                .is_ok_and(|file| file.is_file() && file.len() >= bytes)
        };
        has_length("log", self.head.log_bytes)
            && has_length("signs", self.head.rows * layout.signs_bytes() as u64)
            && has_length("levels", self.head.rows * layout.levels_bytes() as u64)
            && IndexHead::read(&self.folder).is_ok_and(|head| head == self.head)
    }

    /// Removes files of other generations, left by compaction. Failures only waste space.
    pub(super) fn remove_stale_files(&self) {
        let ours = [
            HEAD.to_owned(),
            format!("log-{}", self.head.generation),
            format!("signs-{}", self.head.generation),
            format!("levels-{}", self.head.generation),
        ];
        let Ok(files) = std::fs::read_dir(&self.folder) else { return };
        for file in files.flatten() {
            let name = file.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_index_file =
                ["log-", "signs-", "levels-", "head.new"].iter().any(|kind| name.starts_with(kind));
            if is_index_file && !ours.iter().any(|ours| ours == name) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Makes the names of newly created files durable.
    pub(super) fn sync_folder(&self) -> Result<(), FinderError> {
        sync_folder(&self.folder).map_err(|error| io_failed(&self.folder, &error))
    }
}

/// Opens a file and truncates what is not committed.
fn open_truncated(path: &Path, bytes: u64) -> Result<File, FinderError> {
    let file = open_file(path).map_err(|error| damaged(path, error.to_string()))?;
    let there = file.metadata().map_err(|error| io_failed(path, &error))?.len();
    if there < bytes {
        return Err(damaged(path, format!("has {there} bytes, expected at least {bytes}")));
    }
    if there > bytes {
        file.set_len(bytes).map_err(|error| io_failed(path, &error))?;
    }
    Ok(file)
}

/// Reads a range of a file; fails if the file is shorter.
pub(super) fn read_range(
    file: &File,
    path: &Path,
    at: u64,
    bytes: u64,
) -> Result<Vec<u8>, FinderError> {
    let bytes = usize::try_from(bytes).map_err(|_| damaged(path, "does not fit into memory"))?;
    let mut read = vec![0; bytes];
    read_at(file, &mut read, at).map_err(|error| io_failed(path, &error))?;
    Ok(read)
}
