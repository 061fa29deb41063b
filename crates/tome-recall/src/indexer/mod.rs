//! The indexer: keeps the indexes up to date with the ledger and the notebooks, and gives access to
//! them.

mod chunking;
mod deep_embedder;
mod deep_update;
mod done_ranges;
mod earlier_embedders;
mod entries;
mod files;
mod files_stamp;
mod index_set;
mod index_slot;
mod indexable_file;
mod nodes;
mod pages;
mod report;
mod session_files;
mod update;
mod vector_slot;
mod writers;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tome_finder::Embedder;
use tome_ledger::Ledger;
use tome_model::Event;

use crate::RecallError;
use crate::Transcripts;
use tome_home::{Home, Notebooks, StoreMode, Stores};

pub(crate) use chunking::split_chunks;
pub(crate) use deep_embedder::{ActiveQueries, DeepIndexEmbedder};
pub(crate) use earlier_embedders::EarlierEmbedders;
pub(crate) use entries::{
    NoteBody, NotePart, event_keywords, event_text, node_entries, slice_text,
};
pub(crate) use files::load_known_files;
pub(crate) use index_set::{IndexOwner, IndexPair, IndexSet};
pub(crate) use index_slot::parse_cursor;
pub(crate) use indexable_file::IndexableFile;
pub(crate) use pages::PageKey;
pub use report::IndexReport;
pub(crate) use session_files::SessionFiles;
pub use update::IndexUpdate;
pub(crate) use vector_slot::AnsweringIndex;

/// Index sets with more entries are not kept open for queries over all projects.
const SMALL_ENTRIES_MAX: u64 = 4_000;
/// Maximum number of entries in all of those that are.
const KEPT_ENTRIES_MAX: u64 = 150_000;

pub(crate) struct Indexer {
    pub home: Home,
    pub stores: Arc<Stores>,
    pub notebooks: Arc<Notebooks>,
    pub transcripts: Arc<Transcripts>,
    pub embedder: Arc<dyn Embedder>,
    /// Computes better vectors in the background; `None` if there is no such embedder.
    pub deep: Option<Arc<DeepIndexEmbedder>>,
    pub queries: Arc<ActiveQueries>,
    pub earlier: EarlierEmbedders,
    pub sets: Mutex<HashMap<PathBuf, Arc<IndexSet>>>,
    /// Counts uses of index sets, for least-recently-used eviction.
    pub uses: AtomicU64,
    pub session_files: SessionFiles,
    /// Held while a batch is read and indexed, to bound memory.
    pub batch_lock: Mutex<()>,
}

impl Indexer {
    /// The index set of a project; `None` if the project is unknown.
    pub(crate) fn project_set(&self, root: &str) -> Option<Arc<IndexSet>> {
        if self.stores.mode() == StoreMode::Unified {
            return Some(self.unified_set());
        }
        let folder = self.stores.projects().find_folder(root)?;
        let ledger = Some(folder.join("ledger")).filter(|ledger| ledger.is_dir());
        Some(self.get_or_create_set(
            IndexOwner::Project(root.to_owned()),
            folder.join("finder"),
            ledger,
        ))
    }

    fn unified_set(&self) -> Arc<IndexSet> {
        let ledger = self.home.unified_ledger();
        let folder = ledger.with_file_name("finder");
        let ledger = Some(ledger).filter(|ledger| ledger.is_dir());
        self.get_or_create_set(IndexOwner::Unified, folder, ledger)
    }

    pub(crate) fn coder_set(&self) -> Arc<IndexSet> {
        self.get_or_create_set(IndexOwner::Coder, self.home.root().join("finder"), None)
    }

    pub(crate) fn ledger_set(&self, ledger: &Path) -> Option<Arc<IndexSet>> {
        if self.stores.mode() == StoreMode::Unified {
            return Some(self.unified_set());
        }
        let folder = ledger.parent()?;
        let (root, _) = self.stores.projects().all().into_iter().find(|(_, at)| at == folder)?;
        self.project_set(&root)
    }

    /// All index sets, except those of the coder and of offline chats.
    pub(crate) fn all_sets(&self) -> Vec<Arc<IndexSet>> {
        if self.stores.mode() == StoreMode::Unified {
            return vec![self.unified_set()];
        }
        let mut roots = self.stores.projects().all();
        roots.retain(|(root, _)| !self.home.is_offline_project(root));
        roots.into_iter().filter_map(|(root, _)| self.project_set(&root)).collect()
    }

    /// Runs `visit` on an index set, and then closes the least recently used sets if too many are
    /// open, because each takes file descriptors and memory. Indexes still in use stay alive.
    pub(crate) fn with_open_set<T>(
        &self,
        index_set: &IndexSet,
        visit: impl FnOnce(&IndexSet) -> T,
    ) -> T {
        let was_open = index_set.is_open();
        index_set.mark_used(self.uses.fetch_add(1, Ordering::Relaxed) + 1);
        let found = visit(index_set);
        if !was_open {
            self.close_surplus();
        }
        found
    }

    /// Closes index sets if too many are open. Beyond the most recently used, small ones stay open for
    /// the next query over all projects. The longest open of these stay: such a query uses all in turn,
    /// and closing the oldest would close each just before it is needed.
    fn close_surplus(&self) {
        let mut open = self.used_sets();
        open.retain(|index_set| index_set.is_open());
        if open.len() <= self.stores.open_max() {
            return;
        }
        open.sort_by_key(|index_set| index_set.last_used.load(Ordering::Relaxed));
        open.truncate(open.len() - self.stores.open_max());
        let (mut sets, mut entries) = (0, 0);
        for index_set in open {
            let more = index_set.open_entry_count();
            if more > SMALL_ENTRIES_MAX
                || entries + more > KEPT_ENTRIES_MAX
                || sets >= self.stores.index_sets_max()
            {
                index_set.close();
            } else {
                (sets, entries) = (sets + 1, entries + more);
            }
        }
    }

    /// The number of the last event of a store that is closed; `None` if it is open or empty. Opening
    /// it takes far longer than searching its indexes.
    pub(crate) fn closed_last_seq(&self, set: &IndexSet) -> Option<u64> {
        let path = set.ledger.as_ref().filter(|path| !self.stores.is_open(path))?;
        Some(Ledger::read_last_seq(path)).filter(|last| *last > 0)
    }

    /// The index sets used so far.
    pub(crate) fn used_sets(&self) -> Vec<Arc<IndexSet>> {
        let index_sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        index_sets.values().map(Arc::clone).collect()
    }

    /// Returns the index set in a folder, replacing it if it has got a ledger since.
    fn get_or_create_set(
        &self,
        of: IndexOwner,
        folder: PathBuf,
        ledger: Option<PathBuf>,
    ) -> Arc<IndexSet> {
        let mut index_sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            index_sets.get(&folder).filter(|index_set| index_set.ledger == ledger).map(Arc::clone);
        known.unwrap_or_else(|| {
            let index_set = Arc::new(IndexSet::new(of, &folder, ledger));
            index_sets.insert(folder, Arc::clone(&index_set));
            index_set
        })
    }

    /// The lines of events in the transcripts of their sessions; 0 if unknown.
    fn find_event_lines(
        &self,
        ledger: &Ledger,
        events: &[&Event],
    ) -> Result<Vec<u32>, RecallError> {
        Ok(self.transcripts.find_lines(ledger, events)?)
    }
}
