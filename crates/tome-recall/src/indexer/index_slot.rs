//! One index on disk: opened on demand, shared, and closed when its files change.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use tome_finder::{Bm25Index, FinderError, VectorIndex};
use tome_model::Millis;

/// Parses a cursor; 0 if it is empty.
pub(crate) fn parse_cursor(cursor: &str) -> u64 {
    cursor.parse().unwrap_or(0)
}

/// An index that may be missing or closed.
pub(crate) struct IndexSlot<T> {
    pub folder: PathBuf,
    open: RwLock<Option<Arc<T>>>,
    /// Held while opening, so that a large index is not read twice at once.
    opening_lock: Mutex<()>,
    /// Set if an open index turned out to be damaged. It is rebuilt and not opened before that.
    is_damaged: AtomicBool,
    checked: Mutex<Option<FilesCheck>>,
}

/// The last time that the files of an open index were found intact. Adding, replacing or removing a
/// file changes the time of its folder, so that the files need not be checked one by one for every query.
struct FilesCheck {
    folder_modified: SystemTime,
    since: Instant,
    /// Whether the files were checked again once the folder's time could not repeat.
    is_settled: bool,
}

/// Two changes within this time may leave the folder with the same time.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Operations that both kinds of indexes have in common.
pub(crate) trait SearchIndex: Sized {
    fn is_intact(&self) -> bool;

    /// Names of its entries with their times.
    fn list_named(&self) -> Result<Vec<(String, Millis)>, FinderError>;
}

impl SearchIndex for Bm25Index {
    fn is_intact(&self) -> bool {
        self.is_intact()
    }

    fn list_named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        self.list_named()
    }
}

impl SearchIndex for VectorIndex {
    fn is_intact(&self) -> bool {
        self.is_intact()
    }

    fn list_named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        Ok(self.list_named())
    }
}

impl<T: SearchIndex> IndexSlot<T> {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder,
            open: RwLock::default(),
            opening_lock: Mutex::default(),
            is_damaged: AtomicBool::new(false),
            checked: Mutex::default(),
        }
    }

    /// Returns the index if it is open and its files are intact.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        let open = self.open_index()?;
        if self.has_intact_files(&open) {
            return Some(open);
        }
        self.set(None);
        None
    }

    fn has_intact_files(&self, index: &T) -> bool {
        let folder_modified = std::fs::metadata(&self.folder).and_then(|folder| folder.modified());
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let last = checked.take().filter(|last| {
            folder_modified.as_ref().is_ok_and(|modified| *modified == last.folder_modified)
        });
        let is_intact = last.as_ref().is_some_and(|last| last.is_settled) || index.is_intact();
        if let (true, Ok(folder_modified)) = (is_intact, folder_modified) {
            let since = last.map_or_else(Instant::now, |last| last.since);
            let is_settled = since.elapsed() >= SETTLE_TIME;
            *checked = Some(FilesCheck { folder_modified, since, is_settled });
        }
        is_intact
    }

    pub(super) fn is_open(&self) -> bool {
        self.open_index().is_some()
    }

    /// The index if it is open; its files are not checked.
    pub(super) fn open_index(&self) -> Option<Arc<T>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, index: Option<Arc<T>>) {
        *self.checked.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = index;
    }

    /// Closes the index after a failed search. A damaged one is marked for rebuilding; a failing
    /// embedder is not the index's fault.
    pub(crate) fn close_failed(&self, why: &FinderError) {
        match why {
            FinderError::Embed(_) => return,
            FinderError::Damaged { .. } => self.is_damaged.store(true, Ordering::Release),
            FinderError::Missing(_) | FinderError::Failed { .. } => {}
        }
        self.set(None);
    }

    /// Allows opening the index again after another one took its place.
    pub(super) fn clear_damage(&self) {
        self.is_damaged.store(false, Ordering::Release);
    }

    pub(super) fn open_existing(
        &self,
        open: impl FnOnce(&Path) -> Result<T, FinderError>,
    ) -> Option<Arc<T>> {
        self.get().or_else(|| self.open_once(open).ok())
    }

    /// Returns the index, opening it if needed. A damaged one counts as missing.
    fn open_once(
        &self,
        open: impl FnOnce(&Path) -> Result<T, FinderError>,
    ) -> Result<Arc<T>, FinderError> {
        let _one_at_a_time = self.opening_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = self.get() {
            return Ok(open);
        }
        if self.is_damaged.load(Ordering::Acquire) {
            return Err(FinderError::Missing(self.folder.clone()));
        }
        let index = Arc::new(open(&self.folder)?);
        self.set(Some(Arc::clone(&index)));
        Ok(index)
    }

    /// Opens the index, or creates it. Returns whether it was created.
    pub(super) fn open_or_create(
        &self,
        open: impl FnOnce(&Path) -> Result<T, FinderError>,
        make: impl FnOnce(&Path) -> Result<T, FinderError>,
    ) -> Result<bool, FinderError> {
        match self.open_once(open) {
            Ok(_) => Ok(false),
            Err(FinderError::Missing(_) | FinderError::Damaged { .. }) => {
                let made = make(&self.folder)?;
                self.is_damaged.store(false, Ordering::Release);
                self.set(Some(Arc::new(made)));
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }
}
