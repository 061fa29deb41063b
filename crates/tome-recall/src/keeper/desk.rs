//! A desk: the indexes over one ledger, or over the coder's notebook.
//!
//! ```text
//! finder/bm25/events    finder/vectors/events    events: only ever added to
//! finder/bm25/pages     finder/vectors/pages     nodes, grips, notes: replaced as they change
//! ```
//!
//! Each of the four is independent of the others, knows how far it has come, and is made anew when it
//! is missing or damaged. Whoever asks takes what is there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use tome_finder::{Embedder, FinderError, Meanings, Words};
use tome_model::Millis;

use super::hands::Pass;

/// Whose texts a desk has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum DeskOf {
    /// One project: its ledger, its notebook, its sessions.
    Project(String),
    /// The one ledger of all projects, and their notebooks.
    Unified,
    /// The coder's notebook.
    Coder,
}

/// The indexes over one ledger or notebook.
pub(crate) struct Desk {
    pub of: DeskOf,
    /// The ledger, where there is one.
    pub ledger: Option<PathBuf>,
    pub events: Pair,
    pub pages: Pair,
    /// Held by whoever brings it up to date: the indexes of words, and those of vectors. Who needs both
    /// takes them in this order.
    pub keeping: Mutex<Kept>,
    pub keeping_meanings: Mutex<Kept>,
    /// The files that the BM25 index of pages has, and those that its vectors cover; `None` until they
    /// were read from the index.
    pub known: RwLock<Option<KnownFiles<Words>>>,
    pub known_meanings: RwLock<Option<KnownFiles<Meanings>>>,
    /// Whether somebody has seen that something is missing.
    pub wanting: AtomicBool,
    /// The same for vectors that are kept apart. They begin with it: nobody has compared them yet.
    pub wanting_meanings: AtomicBool,
    /// What went wrong the last time.
    pub problems: Mutex<Problems>,
    /// When it was used last, counted in uses.
    pub used: AtomicU64,
}

/// The files that one particular index has. An index that was deleted and created again is another index:
/// it must not inherit the list, or files that it has not read yet would be skipped as known.
pub(crate) struct KnownFiles<T> {
    index: Weak<T>,
    stamps: Arc<HashSet<String>>,
}

impl<T> KnownFiles<T> {
    pub(crate) fn new(index: &Arc<T>, stamps: Arc<HashSet<String>>) -> Self {
        Self { index: Arc::downgrade(index), stamps }
    }

    /// The stamps of the files that this index has, if the list is about this index.
    pub(crate) fn stamps_in(&self, index: &Arc<T>) -> Option<&Arc<HashSet<String>>> {
        std::ptr::eq(self.index.as_ptr(), Arc::as_ptr(index)).then_some(&self.stamps)
    }
}

/// Why indexes are not up to date, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems {
    /// Of all of them, or of those of words.
    pub indexes: Option<String>,
    /// Of vectors that are kept apart.
    pub meanings: Option<String>,
}

/// What is remembered between two visits.
#[derive(Default)]
pub(crate) struct Kept {
    /// The stamps of the files that the indexes of pages have; `None` until they were asked.
    pub files: Option<HashSet<String>>,
}

/// Two indexes of the same entries.
pub(crate) struct Pair {
    pub words: Slot<Words>,
    pub meanings: Slot<Meanings>,
}

/// A place for an index that may be missing.
pub(crate) struct Slot<T> {
    pub folder: PathBuf,
    open: RwLock<Option<Arc<T>>>,
    /// Held by whoever opens it: an index of a million rows is not to be read twice at a time.
    opening: Mutex<()>,
    /// It was opened and then turned out to be damaged: it is made anew, and not opened before that.
    spoiled: AtomicBool,
}

/// What the two kinds of indexes have in common.
pub(crate) trait Index: Sized {
    fn is_whole(&self) -> bool;

    /// The names of its entries, with the time of each.
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

    /// Whether it has this project and no other.
    pub(crate) fn is_of(&self, root: Option<&str>) -> bool {
        matches!(&self.of, DeskOf::Project(own) if Some(own.as_str()) == root)
    }

    /// Whether any of its indexes is open.
    pub(crate) fn is_open(&self) -> bool {
        let pairs = [&self.events, &self.pages];
        pairs.iter().any(|pair| pair.words.is_open() || pair.meanings.is_open())
    }

    /// Closes what is open; it is opened again when it is needed. While somebody brings it up to date it
    /// stays as it is.
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

    /// What went wrong the last time.
    pub(crate) fn problems(&self) -> MutexGuard<'_, Problems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pair {
    /// Opens what can be opened, without making anything.
    pub(crate) fn look(
        &self,
        embedder: &Arc<dyn Embedder>,
    ) -> (Option<Arc<Words>>, Option<Arc<Meanings>>) {
        let open = |folder: &Path| Meanings::open(folder, Arc::clone(embedder));
        (self.words.look(Words::open), self.meanings.look(open))
    }

    /// Opens what can be opened and makes the rest anew.
    pub(crate) fn open_or_make(
        &self,
        pass: Pass,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<Made, FinderError> {
        let words = pass.has_words() && self.words.open_or_make(Words::open, Words::make)?;
        let open = |folder: &Path| Meanings::open(folder, Arc::clone(embedder));
        let make = |folder: &Path| {
            // An embedder that does not answer is not to cost the vectors of the one before.
            embedder.embed(&["Does it answer?"])?;
            Meanings::make(folder, Arc::clone(embedder))
        };
        let meanings = pass.has_meanings() && self.meanings.open_or_make(open, make)?;
        Ok(Made { words, meanings })
    }
}

/// Which indexes had to be made anew.
pub(crate) struct Made {
    pub words: bool,
    pub meanings: bool,
}

impl<T: Index> Slot<T> {
    fn at(folder: PathBuf) -> Self {
        let spoiled = AtomicBool::new(false);
        Self { folder, open: RwLock::new(None), opening: Mutex::new(()), spoiled }
    }

    /// The index, if it is open and its files are there.
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

    /// Closes it after it could not answer. One that is damaged is made anew by whoever keeps it; an
    /// embedder that did not answer is no fault of the index.
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

    /// The index, opened if it is not. One that was spoiled counts as missing.
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

    /// Opens the index, or makes it anew. Says whether it was made.
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
