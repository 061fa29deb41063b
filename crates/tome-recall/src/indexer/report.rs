//! Status of the indexes: progress, size and problems. Reads small files only; opens and creates
//! nothing.

use std::fs;
use std::path::{Path, PathBuf};

use tome_finder::{Bm25Index, Embedder, FinderError, IndexMeta, VectorIndex};
use tome_ledger::Ledger;

use super::Indexer;
use super::done_ranges::DoneRanges;
use super::index_set::{IndexOwner, IndexProblems, IndexSet};
use super::index_slot::parse_cursor;
use super::vector_slot::VectorSlot;
use crate::RecallError;
use tome_home::ProjectionReport;

/// Sanity limit: an index has far fewer files.
const FILES_MAX: usize = 100_000;

/// Maximum number of changed nodes to count, because each takes a lookup.
const COUNTED_LAG_MAX: usize = 100_000;

/// Status of an index set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexReport {
    /// Root folder of the project; empty for the coder's notebook and for a unified store.
    pub project: String,
    /// Folder of the indexes. Can be deleted at any time.
    pub folder: PathBuf,
    /// Each of them.
    pub indexes: Vec<ProjectionReport>,
    /// Why they were not brought up to date the last time.
    pub problems: Vec<String>,
}

impl Indexer {
    pub(crate) fn report_set(
        &self,
        index_set: &IndexSet,
        ledger: Option<&Ledger>,
    ) -> Result<IndexReport, RecallError> {
        let events = ledger.map_or(0, Ledger::last_seq);
        // Events are numbered without gaps, so the lag is a difference.
        let events_behind = |cursor| Ok(events.saturating_sub(cursor));
        // Node changes have gaps: each opening of a store starts a new range of numbers.
        let nodes_behind = |cursor| match ledger {
            Some(ledger) => Ok(ledger.changed_nodes(cursor, COUNTED_LAG_MAX)?.len() as u64),
            None => Ok(0),
        };
        let words = |name, folder: &Path, behind: CountBehind<'_>| {
            report_index(name, folder, behind, Bm25Index::read_meta(folder))
        };
        let vector_index = |name, slot: &VectorSlot, behind: CountBehind<'_>| {
            let folder = slot.folder();
            let mut report = report_index(name, folder, behind, VectorIndex::read_meta(folder))?;
            if report.embedder.as_deref().is_some_and(|made| made != self.embedder.name()) {
                // The new embedder has not answered yet.
                (report.cursor, report.behind) = (0, behind(0)?);
            }
            report.disk_bytes += folder_bytes(slot.previous_folder());
            Ok::<_, RecallError>(report)
        };
        let mut indexes = Vec::new();
        if ledger.is_some() {
            indexes.push(words("bm25/events", &index_set.events.bm25.folder, &events_behind)?);
        }
        indexes.push(words("bm25/pages", &index_set.pages.bm25.folder, &nodes_behind)?);
        if ledger.is_some() {
            indexes.push(vector_index(
                "vectors/events",
                &index_set.events.vectors,
                &events_behind,
            )?);
        }
        indexes.push(vector_index("vectors/pages", &index_set.pages.vectors, &nodes_behind)?);
        if let Some(deep) = &self.deep {
            if ledger.is_some() {
                let folder = index_set.events.deep.folder();
                let meta = VectorIndex::read_meta(folder);
                let meta = meta.and_then(|meta| check_embedder(meta, folder, deep.name()));
                let done = meta.as_ref().map_or(0, |meta| DoneRanges::parse(&meta.cursor).count());
                let mut report = report_index("deep/events", folder, &|_| Ok(0), meta)?;
                (report.cursor, report.behind) = (done, events.saturating_sub(done));
                report.disk_bytes += folder_bytes(index_set.events.deep.previous_folder());
                indexes.push(report);
            }
            let folder = index_set.pages.deep.folder();
            let meta = VectorIndex::read_meta(folder);
            let meta = meta.and_then(|meta| check_embedder(meta, folder, deep.name()));
            let mut report = report_index("deep/pages", folder, &nodes_behind, meta)?;
            report.disk_bytes += folder_bytes(index_set.pages.deep.previous_folder());
            indexes.push(report);
        }
        Ok(IndexReport {
            project: match &index_set.owner {
                IndexOwner::Project(root) => root.clone(),
                IndexOwner::Unified | IndexOwner::Coder => String::new(),
            },
            folder: index_set.folder(),
            indexes,
            problems: index_set.list_problems(),
        })
    }
}

impl IndexSet {
    /// The folder of all its indexes.
    pub(crate) fn folder(&self) -> PathBuf {
        self.pages.bm25.folder.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
    }

    /// Why its indexes were not brought up to date the last time.
    pub(crate) fn list_problems(&self) -> Vec<String> {
        let IndexProblems { indexes, vectors, deep } = self.lock_problems().clone();
        indexes.into_iter().chain(vectors).chain(deep).collect()
    }
}

/// Returns the metadata, unless another embedder built the index: such an index is replaced.
fn check_embedder(meta: IndexMeta, folder: &Path, name: &str) -> Result<IndexMeta, FinderError> {
    if meta.embedder.as_deref() == Some(name) {
        Ok(meta)
    } else {
        Err(FinderError::Missing(folder.to_owned()))
    }
}

/// How many entries are behind a cursor.
type CountBehind<'a> = &'a dyn Fn(u64) -> Result<u64, RecallError>;

fn report_index(
    name: &'static str,
    folder: &Path,
    behind: CountBehind<'_>,
    index_meta: Result<IndexMeta, FinderError>,
) -> Result<ProjectionReport, RecallError> {
    let (index_meta, problem) = match index_meta {
        Ok(index_meta) => (index_meta, None),
        // Missing is normal before there is anything to index; a damaged index is rebuilt
        // automatically. Either has everything still to process.
        Err(FinderError::Missing(_) | FinderError::Damaged { .. }) => (IndexMeta::default(), None),
        Err(error) => (IndexMeta::default(), Some(error.to_string())),
    };
    let cursor = parse_cursor(&index_meta.cursor);
    Ok(ProjectionReport {
        name,
        cursor,
        behind: behind(cursor)?,
        entries: index_meta.entries,
        disk_bytes: folder_bytes(folder),
        embedder: index_meta.embedder,
        problem,
    })
}

/// Total size of the files in a folder, ignoring files that vanish meanwhile.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MAX);
    let file_meta = |entry: fs::DirEntry| entry.metadata().ok().filter(fs::Metadata::is_file);
    entries.filter_map(file_meta).map(|meta| meta.len()).sum()
}
