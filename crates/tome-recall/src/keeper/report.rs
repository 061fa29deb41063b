//! Status of the indexes: progress, size and problems. Reads small files only; opens and creates
//! nothing.

use std::fs;
use std::path::{Path, PathBuf};

use tome_finder::{FinderError, Glance, Meanings, Words};
use tome_ledger::Ledger;

use super::Keeper;
use super::desk::{Desk, DeskOf, Problems};
use super::follow::number;
use crate::RecallError;
use tome_home::ProjectionReport;

/// Sanity limit: an index has far fewer files.
const FILES_MAX: usize = 100_000;

/// Maximum number of changed nodes to count, because each takes a lookup.
const BEHIND_MAX: usize = 100_000;

/// Status of an index set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeskReport {
    /// Root folder of the project; empty for the coder's notebook and for a unified store.
    pub project: String,
    /// Folder of the indexes. Can be deleted at any time.
    pub folder: PathBuf,
    /// Each of them.
    pub indexes: Vec<ProjectionReport>,
    /// Why they were not brought up to date the last time.
    pub problems: Vec<String>,
}

impl DeskReport {
    /// Number of entries in the BM25 indexes.
    pub fn entries(&self) -> u64 {
        self.indexes.iter().filter_map(|index| index.entries).sum()
    }

    /// Size of all indexes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.indexes.iter().map(|index| index.disk_bytes).sum()
    }
}

impl Keeper {
    pub(crate) fn report(
        &self,
        desk: &Desk,
        ledger: Option<&Ledger>,
    ) -> Result<DeskReport, RecallError> {
        let events = ledger.map_or(0, Ledger::last_seq);
        // Events are numbered without gaps, so the lag is a difference.
        let events_behind = |cursor| Ok(events.saturating_sub(cursor));
        // Node changes have gaps: each opening of a store starts a new range of numbers.
        let nodes_behind = |cursor| match ledger {
            Some(ledger) => Ok(ledger.changed_nodes(cursor, BEHIND_MAX)?.len() as u64),
            None => Ok(0),
        };
        let words = |name, folder: &Path, behind: Behind<'_>| {
            index(name, folder, behind, Words::glance(folder))
        };
        let meanings = |name, folder: &Path, behind: Behind<'_>| {
            let mut report = index(name, folder, behind, Meanings::glance(folder))?;
            if report.embedder.as_deref().is_some_and(|made| made != self.embedder.name()) {
                // Unusable; it is replaced as soon as the new embedder responds.
                (report.cursor, report.behind) = (0, behind(0)?);
            }
            Ok::<_, RecallError>(report)
        };
        let mut indexes = Vec::new();
        if ledger.is_some() {
            indexes.push(words("bm25/events", &desk.events.words.folder, &events_behind)?);
        }
        indexes.push(words("bm25/pages", &desk.pages.words.folder, &nodes_behind)?);
        if ledger.is_some() {
            indexes.push(meanings("vectors/events", &desk.events.meanings.folder, &events_behind)?);
        }
        indexes.push(meanings("vectors/pages", &desk.pages.meanings.folder, &nodes_behind)?);
        let Problems { indexes: problem, meanings: far } = desk.problems().clone();
        let folder = desk.pages.words.folder.ancestors().nth(2).map(Path::to_path_buf);
        Ok(DeskReport {
            project: match &desk.of {
                DeskOf::Project(root) => root.clone(),
                DeskOf::Unified | DeskOf::Coder => String::new(),
            },
            folder: folder.unwrap_or_default(),
            indexes,
            problems: problem.into_iter().chain(far).collect(),
        })
    }
}

/// How many entries are behind a cursor.
type Behind<'a> = &'a dyn Fn(u64) -> Result<u64, RecallError>;

fn index(
    name: &'static str,
    folder: &Path,
    behind: Behind<'_>,
    glance: Result<Glance, FinderError>,
) -> Result<ProjectionReport, RecallError> {
    let (glance, problem) = match glance {
        Ok(glance) => (glance, None),
        // Missing is normal before there is anything to index; a damaged index is rebuilt
        // automatically. Either has everything still to process.
        Err(FinderError::Missing(_) | FinderError::Damaged { .. }) => (Glance::default(), None),
        Err(error) => (Glance::default(), Some(error.to_string())),
    };
    let cursor = number(&glance.cursor);
    Ok(ProjectionReport {
        name,
        cursor,
        behind: behind(cursor)?,
        entries: glance.entries,
        disk_bytes: bytes_in(folder),
        embedder: glance.embedder,
        problem,
    })
}

/// Total size of the files in a folder, ignoring files that vanish meanwhile.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MAX);
    let of = |entry: fs::DirEntry| entry.metadata().ok().filter(fs::Metadata::is_file);
    entries.filter_map(of).map(|meta| meta.len()).sum()
}
