//! An index set: the indexes over one ledger, or over the coder's notebook.
//!
//! ```text
//! finder/bm25/events    finder/vectors/events    finder/deep/events    events: append-only
//! finder/bm25/pages     finder/vectors/pages     finder/deep/pages     nodes, sources, notes: replaced when they change
//! ```
//!
//! `deep` has the vectors of the deep embedder, if there is one: of messages, nodes and notes, the
//! newest first. The indexes are independent. Each has its own cursor and is rebuilt if it is missing or
//! damaged. Queries use those that exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use tome_finder::{Bm25Index, Embedder, FinderError, VectorIndex};

use super::deep_embedder::DeepIndexEmbedder;
use super::index_slot::IndexSlot;
use super::vector_slot::VectorSlot;

/// The owner of an index set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum IndexOwner {
    /// One project: its ledger, notebook and sessions.
    Project(String),
    /// All projects in one ledger, with their notebooks.
    Unified,
    Coder,
}

/// Names, lengths and times of the files of an index set at one moment. For sessions, the time of the
/// folder stands for its files: their editors replace files instead of writing into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilesStamp {
    pub(super) hash: u64,
    pub(super) files: usize,
}

/// The indexes that an update writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpdatePass {
    Both,
    Bm25,
    Vectors,
    /// The vectors of the deep embedder.
    Deep,
}

impl UpdatePass {
    pub(super) fn has_bm25(self) -> bool {
        matches!(self, Self::Both | Self::Bm25)
    }

    pub(super) fn has_vectors(self) -> bool {
        matches!(self, Self::Both | Self::Vectors)
    }
}

pub(crate) struct IndexSet {
    pub owner: IndexOwner,
    /// `None` for the coder's notebook.
    pub ledger: Option<PathBuf>,
    pub events: IndexPair,
    pub pages: IndexPair,
    /// Held while the BM25 indexes or the vector indexes are updated. Lock both in this order.
    pub bm25_update: Mutex<UpdateState>,
    pub vectors_update: Mutex<UpdateState>,
    /// Held while the deep indexes are updated; never together with the others.
    pub deep_update: Mutex<UpdateState>,
    /// Files in the BM25 index of pages, and in the vector index; `None` until read from the index.
    pub known_in_bm25: RwLock<Option<KnownFiles<Bm25Index>>>,
    pub known_in_vectors: RwLock<Option<KnownFiles<VectorIndex>>>,
    /// Whether a query noticed that something is missing.
    pub is_outdated: AtomicBool,
    /// The same for vectors of a remote embedder. Initially set, because their files have not been
    /// compared yet.
    pub are_vectors_outdated: AtomicBool,
    /// The same for deep vectors.
    pub are_deep_outdated: AtomicBool,
    /// Problems of the last update.
    pub problems: Mutex<IndexProblems>,
    /// The state of the files, and their number, when the indexes had all of them.
    pub indexed_files: Mutex<Option<(FilesStamp, usize)>>,
    /// Time of last use, as a counter of uses.
    pub last_used: AtomicU64,
    used_at: Mutex<Instant>,
}

/// Files in one particular index instance. An index that was deleted and recreated must not inherit
/// the list, or files that it has not read yet would be skipped.
pub(crate) struct KnownFiles<T> {
    index: Weak<T>,
    stamps: Arc<HashSet<String>>,
}

impl<T> KnownFiles<T> {
    pub(crate) fn new(index: &Arc<T>, stamps: Arc<HashSet<String>>) -> Self {
        Self { index: Arc::downgrade(index), stamps }
    }

    /// Stamps of the files, if the list belongs to this index instance.
    pub(crate) fn stamps_in(&self, index: &Arc<T>) -> Option<&Arc<HashSet<String>>> {
        std::ptr::eq(self.index.as_ptr(), Arc::as_ptr(index)).then_some(&self.stamps)
    }
}

/// Reasons why indexes are not up to date.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexProblems {
    /// Why the local indexes are outdated; with a remote embedder, only BM25 is local.
    pub indexes: Option<String>,
    /// Why the vectors of a remote embedder are outdated.
    pub vectors: Option<String>,
    /// Why the deep vectors are outdated.
    pub deep: Option<String>,
}

/// State kept between updates.
#[derive(Default)]
pub(crate) struct UpdateState {
    /// Stamps of the files in the page indexes; `None` until read.
    pub files: Option<HashSet<String>>,
}

/// BM25 and vector index over the same entries, and the deep vectors of some of them.
pub(crate) struct IndexPair {
    pub bm25: IndexSlot<Bm25Index>,
    pub vectors: VectorSlot,
    pub deep: VectorSlot,
}

impl IndexSet {
    pub(crate) fn new(of: IndexOwner, folder: &Path, ledger: Option<PathBuf>) -> Self {
        let pair = |name: &str| IndexPair {
            bm25: IndexSlot::in_folder(folder.join("bm25").join(name)),
            vectors: VectorSlot::in_folder(&folder.join("vectors").join(name)),
            deep: VectorSlot::in_folder(&folder.join("deep").join(name)),
        };
        let (events, pages) = (pair("events"), pair("pages"));
        Self {
            owner: of,
            ledger,
            events,
            pages,
            bm25_update: Mutex::default(),
            vectors_update: Mutex::default(),
            deep_update: Mutex::default(),
            known_in_bm25: RwLock::default(),
            known_in_vectors: RwLock::default(),
            is_outdated: AtomicBool::new(false),
            are_vectors_outdated: AtomicBool::new(true),
            are_deep_outdated: AtomicBool::new(true),
            problems: Mutex::default(),
            indexed_files: Mutex::default(),
            last_used: AtomicU64::new(0),
            used_at: Mutex::new(Instant::now()),
        }
    }

    /// Returns whether it belongs to exactly this project.
    pub(crate) fn is_project(&self, root: Option<&str>) -> bool {
        matches!(&self.owner, IndexOwner::Project(own) if Some(own.as_str()) == root)
    }

    pub(crate) fn mark_used(&self, uses: u64) {
        self.last_used.store(uses, Ordering::Relaxed);
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Time since the last use.
    pub(crate) fn idle_time(&self) -> Duration {
        self.used_at.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Number of entries in the BM25 indexes that are open.
    pub(crate) fn open_entry_count(&self) -> u64 {
        let open =
            [&self.events, &self.pages].into_iter().filter_map(|pair| pair.bm25.open_index());
        open.map(|index| index.entry_count()).sum()
    }

    pub(crate) fn is_open(&self) -> bool {
        let pairs = [&self.events, &self.pages];
        pairs
            .iter()
            .any(|pair| pair.bm25.is_open() || pair.vectors.is_open() || pair.deep.is_open())
    }

    /// Closes all open indexes; they are reopened on demand. Indexes being updated stay open.
    pub(crate) fn close(&self) {
        if let Ok(mut kept) = self.bm25_update.try_lock() {
            self.events.bm25.set(None);
            self.pages.bm25.set(None);
            kept.files = None;
            *self.known_in_bm25.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if let Ok(mut kept) = self.vectors_update.try_lock() {
            self.events.vectors.close();
            self.pages.vectors.close();
            kept.files = None;
            *self.known_in_vectors.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if let Ok(mut kept) = self.deep_update.try_lock() {
            self.events.deep.close();
            self.pages.deep.close();
            kept.files = None;
        }
    }

    pub(crate) fn lock_problems(&self) -> MutexGuard<'_, IndexProblems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexPair {
    /// Opens the existing indexes without creating any.
    pub(crate) fn open_existing(
        &self,
        embedder: &Arc<dyn Embedder>,
    ) -> (Option<Arc<Bm25Index>>, Option<Arc<VectorIndex>>) {
        (self.open_bm25(), self.vectors.open_existing(embedder))
    }

    pub(crate) fn open_bm25(&self) -> Option<Arc<Bm25Index>> {
        self.bm25.open_existing(Bm25Index::open)
    }

    /// Opens the index of deep vectors, if it exists.
    pub(crate) fn open_existing_deep(
        &self,
        embedder: &Arc<DeepIndexEmbedder>,
    ) -> Option<Arc<VectorIndex>> {
        let embedder: Arc<dyn Embedder> = embedder.clone();
        self.deep.open_existing(&embedder)
    }

    /// Opens the index of deep vectors, or creates it. Returns whether it was created.
    pub(crate) fn open_or_create_deep(
        &self,
        embedder: &Arc<DeepIndexEmbedder>,
    ) -> Result<bool, FinderError> {
        let embedder: Arc<dyn Embedder> = embedder.clone();
        self.deep.open_or_create(&embedder, || Ok(()))
    }

    /// Opens the existing indexes and creates the others.
    pub(crate) fn open_or_create(
        &self,
        pass: UpdatePass,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<CreatedIndexes, FinderError> {
        let words =
            pass.has_bm25() && self.bm25.open_or_create(Bm25Index::open, Bm25Index::create)?;
        // An embedder that never answers gets no index.
        let probe = || Ok(embedder.embed(&["Does it answer?"]).map(drop)?);
        let vector_index = pass.has_vectors() && self.vectors.open_or_create(embedder, probe)?;
        Ok(CreatedIndexes { bm25: words, vectors: vector_index })
    }

    /// The vector indexes that a pass writes to.
    pub(super) fn slot_of(&self, pass: UpdatePass) -> Option<&VectorSlot> {
        match pass {
            UpdatePass::Deep => Some(&self.deep),
            UpdatePass::Both | UpdatePass::Vectors => Some(&self.vectors),
            UpdatePass::Bm25 => None,
        }
    }
}

/// Which indexes had to be created.
pub(crate) struct CreatedIndexes {
    pub bm25: bool,
    pub vectors: bool,
}
