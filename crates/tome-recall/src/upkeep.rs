//! Keeping the indexes up to date, and reporting their state. The work itself is in `indexer/`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_home::Store;
use tome_model::Millis;

use crate::indexer::IndexSet;
use crate::{IndexReport, IndexUpdate, Recall, RecallError};

impl Recall {
    /// Brings the indexes over a store up to date, if they are behind.
    pub fn catch_up_indexes(
        &self,
        store: &Store,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let set = self.indexer.ledger_set(store.path());
        match set.filter(|set| self.indexer.is_behind(set, Some(store))) {
            Some(set) => self.indexer.catch_up(&set, stop),
            None => Ok(IndexUpdate::default()),
        }
    }

    /// Brings the indexes over the coder's notebook, and those of projects that have only notes, up to
    /// date if a query found them outdated.
    pub fn catch_up_note_indexes(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let mut done = IndexUpdate::default();
        for index_set in self.indexer.used_sets() {
            if index_set.ledger.is_none() && index_set.is_outdated.load(Ordering::Relaxed) {
                done.pages += self.indexer.catch_up(&index_set, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Indexes the coder's notes that changed since the last update, so that a lesson is found by its
    /// meaning as soon as it is written. Waits for the portion that another update is writing. If that
    /// fails, the query scans them.
    pub(super) fn index_new_lessons(&self) {
        let set = self.indexer.coder_set();
        if self.indexer.has_changed_files(&set) {
            let _ = self.indexer.catch_up(&set, &|| false);
        }
    }

    /// Updates the vectors of a store with a remote embedder. Sends no request if they are up to
    /// date.
    pub fn catch_up_vectors(
        &self,
        store: &Store,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let set = self.indexer.ledger_set(store.path());
        match set.filter(|set| self.indexer.are_vectors_behind(set, Some(store))) {
            Some(set) => self.indexer.catch_up_vectors(&set, stop),
            None => Ok(IndexUpdate::default()),
        }
    }

    /// Like [`catch_up_vectors`](Self::catch_up_vectors), for the coder's notebook and projects
    /// without events that were queried.
    pub fn catch_up_note_vectors(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let mut done = IndexUpdate::default();
        for index_set in self.indexer.used_sets() {
            if index_set.ledger.is_none() && self.indexer.are_vectors_behind(&index_set, None) {
                done.pages += self.indexer.catch_up_vectors(&index_set, stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Computes missing deep vectors of the store at a path, the newest first and back to `since`; once no
    /// event lacks one, those of pages. Takes long; gives way to queries, and does not hold the store
    /// meanwhile.
    pub fn catch_up_deep(
        &self,
        store: &Path,
        since: Millis,
        stop: &dyn Fn() -> bool,
    ) -> Result<IndexUpdate, RecallError> {
        let Some(set) = self.indexer.ledger_set(store) else { return Ok(IndexUpdate::default()) };
        let ledger = self.indexer.stores.open_for_upkeep(store)?;
        let is_behind = self.indexer.is_deep_behind(&set, Some(&ledger));
        drop(ledger);
        match is_behind {
            true => self.indexer.catch_up_deep(&set, since, stop),
            false => Ok(IndexUpdate::default()),
        }
    }

    /// Time of the newest event of a store without a deep vector, for a [`DeepQueue`](crate::DeepQueue).
    /// `None` if nothing lacks one.
    pub fn newest_without_deep(&self, store: &Store) -> Result<Option<Millis>, RecallError> {
        match self.indexer.ledger_set(store.path()) {
            Some(set) => self.indexer.newest_without_deep(&set, store),
            None => Ok(None),
        }
    }

    /// Like [`catch_up_deep`](Self::catch_up_deep), for the coder's notebook and projects without
    /// events that were queried.
    pub fn catch_up_note_deep(&self, stop: &dyn Fn() -> bool) -> Result<IndexUpdate, RecallError> {
        let mut done = IndexUpdate::default();
        for index_set in self.indexer.used_sets() {
            if index_set.ledger.is_none() && self.indexer.is_deep_behind(&index_set, None) {
                done.pages += self.indexer.catch_up_deep(&index_set, Millis(0), stop)?.pages;
            }
        }
        Ok(done)
    }

    /// Whether there is a deep embedder.
    pub fn has_deep_vectors(&self) -> bool {
        self.indexer.deep.is_some()
    }

    /// Releases the writers of the indexes over a store, which hold threads and memory. One that is
    /// still merging segments stays; the next update of the store releases it.
    pub fn release_writers(&self, store: &Store) {
        if let Some(index_set) = self.indexer.ledger_set(store.path()) {
            self.indexer.release_writers(&index_set);
        }
    }

    /// State of the indexes over a store, read from their files; opens and creates nothing.
    pub fn report_indexes(&self, store: &Store) -> Result<Option<IndexReport>, RecallError> {
        let index_set = self.indexer.ledger_set(store.path());
        index_set.map(|index_set| self.indexer.report_set(&index_set, Some(store))).transpose()
    }

    /// The folder of the indexes over a store, and why they were not brought up to date the last time.
    pub fn index_problems(&self, store: &Store) -> Option<(PathBuf, Vec<String>)> {
        let index_set = self.indexer.ledger_set(store.path())?;
        Some((index_set.folder(), index_set.list_problems()))
    }

    /// State of the indexes over the coder's notebook.
    pub fn report_coder_indexes(&self) -> Result<IndexReport, RecallError> {
        self.indexer.report_set(&self.indexer.coder_set(), None)
    }

    /// Closes the indexes of stores that are no longer open, if they were not used for this long.
    pub fn close_unused(&self, idle: Duration) {
        for index_set in self.indexer.used_sets() {
            let is_closed = |ledger: &Path| !self.indexer.stores.is_open(ledger);
            if index_set.ledger.as_deref().is_some_and(is_closed) && index_set.idle_time() >= idle {
                self.close_set(&index_set);
            }
        }
    }

    /// Closes the indexes over the store at this path, if it is closed; where file descriptors are few,
    /// also those over other closed stores.
    pub fn close_indexes(&self, store: &Path) {
        if self.indexer.stores.index_sets_max() == 0 {
            return self.close_unused(Duration::ZERO);
        }
        if self.indexer.stores.is_open(store) {
            return;
        }
        if let Some(index_set) = self.indexer.ledger_set(store) {
            self.close_set(&index_set);
        }
    }

    fn close_set(&self, index_set: &IndexSet) {
        index_set.close();
        self.indexer.unwatch_sessions(index_set);
    }
}
