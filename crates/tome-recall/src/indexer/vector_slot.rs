//! A vector index, and beside it the one of an earlier embedder, which answers until the new one has read
//! as much.
//!
//! ```text
//! vectors/events              that of an earlier embedder until the new embedder has answered once
//! vectors/events.previous     that of the earlier embedder from then on, until the new one is complete
//! ```
//!
//! Every step is one rename, or begins with the removal of a head, so that a process that is killed leaves
//! complete indexes or none.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tome_finder::{Embedder, FinderError, IndexMeta, VectorIndex};

use super::done_ranges::DoneRanges;
use super::index_slot::{IndexSlot, parse_cursor};

pub(crate) struct VectorSlot {
    current: IndexSlot<VectorIndex>,
    /// The index of an earlier embedder in the folder of the current one.
    not_replaced: IndexSlot<VectorIndex>,
    previous: IndexSlot<VectorIndex>,
    /// Whether the folder of the previous index may exist.
    may_have_previous: AtomicBool,
    /// Held while folders are moved or replaced, and while the index of an earlier embedder is opened.
    moving: Mutex<()>,
}

/// The index that answers queries.
#[derive(Default)]
pub(crate) struct AnsweringIndex {
    pub index: Option<Arc<VectorIndex>>,
    /// Why the vectors of an earlier embedder, which cover more, cannot be compared with a query.
    pub unavailable: Option<String>,
}

/// Finds the embedder of this name for queries, or the reason why there is none.
pub(crate) type FindEmbedder<'f> = &'f dyn Fn(&str) -> Result<Arc<dyn Embedder>, String>;

impl VectorSlot {
    pub(super) fn in_folder(folder: &Path) -> Self {
        let mut previous = folder.as_os_str().to_owned();
        previous.push(".previous");
        Self {
            current: IndexSlot::in_folder(folder.to_owned()),
            not_replaced: IndexSlot::in_folder(folder.to_owned()),
            previous: IndexSlot::in_folder(PathBuf::from(previous)),
            may_have_previous: AtomicBool::new(true),
            moving: Mutex::default(),
        }
    }

    fn lock_folders(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folder of the current index.
    pub(super) fn folder(&self) -> &PathBuf {
        &self.current.folder
    }

    pub(super) fn previous_folder(&self) -> &Path {
        &self.previous.folder
    }

    /// Returns the current index if it is open and its files are intact.
    pub(super) fn get(&self) -> Option<Arc<VectorIndex>> {
        self.current.get()
    }

    pub(super) fn is_open(&self) -> bool {
        self.slots().iter().any(|slot| slot.is_open())
    }

    pub(super) fn close(&self) {
        self.slots().iter().for_each(|slot| slot.set(None));
    }

    fn slots(&self) -> [&IndexSlot<VectorIndex>; 3] {
        [&self.current, &self.not_replaced, &self.previous]
    }

    /// Closes the index whose search failed.
    pub(crate) fn close_failed(&self, why: &FinderError) {
        let is_previous = match why {
            FinderError::Missing(path)
            | FinderError::Damaged { path, .. }
            | FinderError::Failed { path, .. } => path.starts_with(&self.previous.folder),
            FinderError::Embed(_) => return,
        };
        match is_previous {
            true => self.previous.close_failed(why),
            false => {
                self.current.close_failed(why);
                self.not_replaced.set(None);
            }
        }
    }

    /// Opens the current index if it exists.
    pub(super) fn open_existing(&self, embedder: &Arc<dyn Embedder>) -> Option<Arc<VectorIndex>> {
        self.current.open_existing(|folder| VectorIndex::open(folder, Arc::clone(embedder)))
    }

    /// Opens the index that has read more: the current one, or that of an earlier embedder if that can
    /// still embed queries.
    pub(crate) fn open_answering(
        &self,
        embedder: &Arc<dyn Embedder>,
        find_embedder: FindEmbedder<'_>,
    ) -> AnsweringIndex {
        let index = self.open_existing(embedder);
        let Some((slot, meta)) = self.find_earlier(index.is_some(), embedder.name()) else {
            return AnsweringIndex { index, unavailable: None };
        };
        let read = index.as_deref().map(progress);
        match find_embedder(meta.embedder.as_deref().unwrap_or_default()) {
            Ok(earlier) => {
                let _still = self.lock_folders();
                let earlier = slot.open_existing(|folder| VectorIndex::open(folder, earlier));
                let earlier = earlier.filter(|earlier| Some(progress(earlier)) > read);
                AnsweringIndex { index: earlier.or(index), unavailable: None }
            }
            Err(problem) => AnsweringIndex { index, unavailable: Some(problem) },
        }
    }

    /// The index of an earlier embedder.
    fn find_earlier(
        &self,
        has_current: bool,
        name: &str,
    ) -> Option<(&IndexSlot<VectorIndex>, IndexMeta)> {
        if self.has_previous()
            && let Ok(meta) = VectorIndex::read_meta(&self.previous.folder)
        {
            return Some((&self.previous, meta));
        }
        let meta = VectorIndex::read_meta(self.folder()).ok().filter(|_| !has_current)?;
        (meta.embedder.as_deref() != Some(name)).then_some((&self.not_replaced, meta))
    }

    /// Whether there is an index in the folder of the previous one, or what is left of it.
    pub(super) fn has_previous(&self) -> bool {
        let is_there =
            self.may_have_previous.load(Ordering::Acquire) && self.previous.folder.exists();
        if !is_there {
            self.may_have_previous.store(false, Ordering::Release);
        }
        is_there
    }

    /// Opens the current index, or creates it once `probe` succeeds. That of an earlier embedder is set
    /// aside. Returns whether it was created.
    pub(super) fn open_or_create(
        &self,
        embedder: &Arc<dyn Embedder>,
        probe: impl FnOnce() -> Result<(), FinderError>,
    ) -> Result<bool, FinderError> {
        if self.get().is_none() {
            let _one = self.lock_folders();
            self.restore_previous(embedder.name())?;
        }
        self.current.open_or_create(
            |folder| VectorIndex::open(folder, Arc::clone(embedder)),
            |folder| {
                probe()?;
                let _one = self.lock_folders();
                self.set_aside(embedder.name())?;
                VectorIndex::create(folder, Arc::clone(embedder))
            },
        )
    }

    /// Moves the previous index back if its embedder is used again before another one read as much.
    fn restore_previous(&self, name: &str) -> Result<(), FinderError> {
        let is_of = |folder: &Path| {
            VectorIndex::read_meta(folder).is_ok_and(|meta| meta.embedder.as_deref() == Some(name))
        };
        if !self.has_previous() || is_of(self.folder()) || !is_of(&self.previous.folder) {
            return Ok(());
        }
        self.close();
        self.current.clear_damage();
        VectorIndex::remove(self.folder())?;
        VectorIndex::relocate(&self.previous.folder, self.folder())
    }

    /// Sets the index of an earlier embedder aside. Of two, the one that has read more is kept.
    fn set_aside(&self, name: &str) -> Result<(), FinderError> {
        let is_earlier = |meta: &IndexMeta| meta.embedder.as_deref() != Some(name);
        let Some(current) = VectorIndex::read_meta(self.folder()).ok().filter(is_earlier) else {
            return Ok(());
        };
        let previous = VectorIndex::read_meta(&self.previous.folder).ok();
        if previous.is_some_and(|it| count_read(&it.cursor) > count_read(&current.cursor)) {
            return Ok(());
        }
        self.close();
        self.previous.clear_damage();
        VectorIndex::remove(&self.previous.folder)?;
        self.may_have_previous.store(true, Ordering::Release);
        VectorIndex::relocate(self.folder(), &self.previous.folder)
    }

    /// Removes the index of the earlier embedder once the current one is complete. What cannot be removed
    /// only takes space.
    pub(super) fn remove_previous(&self) {
        if self.has_previous() {
            let _one = self.lock_folders();
            self.previous.set(None);
            self.may_have_previous.store(false, Ordering::Release);
            let _ = VectorIndex::remove(&self.previous.folder);
        }
    }
}

/// How far an index has read: its cursor, and where that does not tell, its entries.
fn progress(index: &VectorIndex) -> (u64, usize) {
    (count_read(&index.cursor()), index.entry_count())
}

fn count_read(cursor: &str) -> u64 {
    parse_cursor(cursor).max(DoneRanges::parse(cursor).count())
}
