//! An index set: the indexes over one ledger, or over the coder's notebook.
//!
//! ```text
//! finder/bm25/events    finder/vectors/events    events: append-only
//! finder/bm25/pages     finder/vectors/pages     nodes, sources, notes: replaced when they change
//! ```
//!
//! The four indexes are independent. Each has its own cursor and is rebuilt if it is missing or
//! damaged. Queries use those that exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use tome_finder::{Embedder, FinderError, Meanings, Words};
use tome_model::Millis;

use super::hands::Pass;

/// The owner of an index set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum DeskOf {
    /// One project: its ledger, notebook and sessions.
    Project(String),
    /// All projects in one ledger, with their notebooks.
    Unified,
    Coder,
}

pub(crate) struct Desk {
    pub of: DeskOf,
    /// `None` for the coder's notebook.
    pub ledger: Option<PathBuf>,
    pub events: Pair,
    pub pages: Pair,
    /// Held while the BM25 indexes or the vector indexes are updated. Lock both in this order.
    pub keeping: Mutex<Kept>,
    pub keeping_meanings: Mutex<Kept>,
    /// Files in the BM25 index of pages, and in the vector index; `None` until read from the index.
    pub known: RwLock<Option<KnownFiles<Words>>>,
    pub known_meanings: RwLock<Option<KnownFiles<Meanings>>>,
    /// Whether a query noticed that something is missing.
    pub wanting: AtomicBool,
    /// The same for vectors of a remote embedder. Initially set, because their files have not been
    /// compared yet.
    pub wanting_meanings: AtomicBool,
    /// Problems of the last update.
    pub problems: Mutex<Problems>,
    /// Time of last use, as a counter of uses.
    pub used: AtomicU64,
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
pub(crate) struct Problems {
    /// Of all indexes, or of BM25 only if the embedder is remote.
    pub indexes: Option<String>,
    /// Of the vectors of a remote embedder.
    pub meanings: Option<String>,
}

/// State kept between updates.
#[derive(Default)]
pub(crate) struct Kept {
    /// Stamps of the files in the page indexes; `None` until read.
    pub files: Option<HashSet<String>>,
}

/// BM25 and vector index over the same entries.
pub(crate) struct Pair {
    pub words: Slot<Words>,
    pub meanings: Slot<Meanings>,
}

/// An index that may be missing or closed.
pub(crate) struct Slot<T> {
    pub folder: PathBuf,
    open: RwLock<Option<Arc<T>>>,
    /// Held while opening, so that a large index is not read twice at once.
    opening: Mutex<()>,
    /// Set if an open index turned out to be damaged. It is rebuilt and not opened before that.
    spoiled: AtomicBool,
}

/// Operations that both kinds of indexes have in common.
pub(crate) trait Index: Sized {
    fn is_whole(&self) -> bool;

    /// Names of its entries with their times.
    fn named(&self) -> Result<Vec<(String, Millis)>, FinderError>;
}

impl Index for Words {
    fn is_whole(&self) -> bool {
        self.is_whole()
    }

    fn named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        self.named()
    }
}

impl Index for Meanings {
    fn is_whole(&self) -> bool {
        self.is_whole()
    }

    fn named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        Ok(self.named())
    }
}

impl Desk {
    pub(crate) fn new(of: DeskOf, folder: &Path, ledger: Option<PathBuf>) -> Self {
        let pair = |name: &str| Pair {
            words: Slot::at(folder.join("bm25").join(name)),
            meanings: Slot::at(folder.join("vectors").join(name)),
        };
        let (events, pages) = (pair("events"), pair("pages"));
        Self {
            of,
            ledger,
            events,
            pages,
            keeping: Mutex::default(),
            keeping_meanings: Mutex::default(),
            known: RwLock::default(),
            known_meanings: RwLock::default(),
            wanting: AtomicBool::new(false),
            wanting_meanings: AtomicBool::new(true),
            problems: Mutex::default(),
            used: AtomicU64::new(0),
        }
    }

    /// Returns whether it belongs to exactly this project.
    pub(crate) fn is_of(&self, root: Option<&str>) -> bool {
        matches!(&self.of, DeskOf::Project(own) if Some(own.as_str()) == root)
    }

    pub(crate) fn is_open(&self) -> bool {
        let pairs = [&self.events, &self.pages];
        pairs.iter().any(|pair| pair.words.is_open() || pair.meanings.is_open())
    }

    /// Closes all open indexes; they are reopened on demand. Indexes being updated stay open.
    pub(crate) fn close(&self) {
        if let Ok(mut kept) = self.keeping.try_lock() {
            self.events.words.put(None);
            self.pages.words.put(None);
            kept.files = None;
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if let Ok(mut kept) = self.keeping_meanings.try_lock() {
            self.events.meanings.put(None);
            self.pages.meanings.put(None);
            kept.files = None;
            *self.known_meanings.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    pub(crate) fn problems(&self) -> MutexGuard<'_, Problems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pair {
    /// Opens the existing indexes without creating any.
    pub(crate) fn look(
        &self,
        embedder: &Arc<dyn Embedder>,
    ) -> (Option<Arc<Words>>, Option<Arc<Meanings>>) {
        let open = |folder: &Path| Meanings::open(folder, Arc::clone(embedder));
        (self.words.look(Words::open), self.meanings.look(open))
    }

    /// Opens the existing indexes and creates the others.
    pub(crate) fn open_or_make(
        &self,
        pass: Pass,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<Made, FinderError> {
        let words = pass.has_words() && self.words.open_or_make(Words::open, Words::make)?;
        let open = |folder: &Path| Meanings::open(folder, Arc::clone(embedder));
        let make = |folder: &Path| {
            // Probe first: an unreachable embedder must not cost the previous one's vectors.
            embedder.embed(&["Does it answer?"])?;
            Meanings::make(folder, Arc::clone(embedder))
        };
        let meanings = pass.has_meanings() && self.meanings.open_or_make(open, make)?;
        Ok(Made { words, meanings })
    }
}

/// Which indexes had to be created.
pub(crate) struct Made {
    pub words: bool,
    pub meanings: bool,
}

impl<T: Index> Slot<T> {
    fn at(folder: PathBuf) -> Self {
        let spoiled = AtomicBool::new(false);
        Self { folder, open: RwLock::new(None), opening: Mutex::new(()), spoiled }
    }

    /// Returns the index if it is open and its files are intact.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        if open.is_whole() {
            return Some(open);
        }
        self.put(None);
        None
    }

    fn is_open(&self) -> bool {
        self.open.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn put(&self, index: Option<Arc<T>>) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = index;
    }

    /// Closes the index after a failed search. A damaged one is marked for rebuilding; a failing
    /// embedder is not the index's fault.
    pub(crate) fn give_up(&self, why: &FinderError) {
        match why {
            FinderError::Embed(_) => return,
            FinderError::Damaged { .. } => self.spoiled.store(true, Ordering::Release),
            FinderError::Missing(_) | FinderError::Failed { .. } => {}
        }
        self.put(None);
    }

    fn look(&self, open: impl FnOnce(&Path) -> Result<T, FinderError>) -> Option<Arc<T>> {
        self.get().or_else(|| self.opened(open).ok())
    }

    /// Returns the index, opening it if needed. A damaged one counts as missing.
    fn opened(
        &self,
        open: impl FnOnce(&Path) -> Result<T, FinderError>,
    ) -> Result<Arc<T>, FinderError> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = self.get() {
            return Ok(open);
        }
        if self.spoiled.load(Ordering::Acquire) {
            return Err(FinderError::Missing(self.folder.clone()));
        }
        let index = Arc::new(open(&self.folder)?);
        self.put(Some(Arc::clone(&index)));
        Ok(index)
    }

    /// Opens the index, or creates it. Returns whether it was created.
    fn open_or_make(
        &self,
        open: impl FnOnce(&Path) -> Result<T, FinderError>,
        make: impl FnOnce(&Path) -> Result<T, FinderError>,
    ) -> Result<bool, FinderError> {
        match self.opened(open) {
            Ok(_) => Ok(false),
            Err(FinderError::Missing(_) | FinderError::Damaged { .. }) => {
                let made = make(&self.folder)?;
                self.spoiled.store(false, Ordering::Release);
                self.put(Some(Arc::new(made)));
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }
}
