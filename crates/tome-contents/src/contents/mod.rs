//! The contents of one project, or of all projects merged, as a tree.
//!
//! Contents are stored per project. A query first lets the contents catch up, then visits
//! stores one at a time, because there may be more than can be open. An unreadable store is skipped
//! and named in the answer; a query for its project alone returns the error.

mod entry;
mod listing;
mod lookup;
mod maintenance;
mod sessions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_ledger::Ledger;
use tome_model::{Clock, Level, Millis, NodeId, Zone};

use crate::{ContentsSettings, Instructions, ListedInstruction, Summarizer};
use tome_home::{HomeError, Projection, Stores, describe_unreadable};

pub use entry::{ContentsEntry, Depth, ProjectShare};
pub use listing::{ContentsListing, ContentsQuery, PageRequest, list_span};
pub use lookup::{BulletEvidence, LocatedNode};
pub use maintenance::{StoreRebuildResult, StoreReport, StoreVerifyResult};

/// Stores kept open after a query; further ones are closed after use.
const OPEN_STORES_MAX: usize = 8;

/// The contents of all stores of a home.
pub struct Contents {
    stores: Arc<Stores>,
    settings: ContentsSettings,
    summarizer: Arc<dyn Summarizer>,
    clock: Arc<dyn Clock>,
    instructions: Arc<Instructions>,
}

impl Contents {
    /// Opens the contents over `stores`.
    pub fn new(
        stores: Arc<Stores>,
        settings: ContentsSettings,
        summarizer: Arc<dyn Summarizer>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { stores, settings, summarizer, clock, instructions: Arc::default() }
    }

    /// The standing instructions of the user, as a projection of the stores.
    pub fn instructions(&self) -> &Arc<Instructions> {
        &self.instructions
    }

    /// The standing instructions of the user in a project, the latest first.
    pub fn list_instructions(&self, project: &str) -> Result<Vec<ListedInstruction>, HomeError> {
        match self.stores.find_store_path(project) {
            Some(path) => self.instructions.list(&self.stores.open(&path)?, project),
            None => Ok(Vec::new()),
        }
    }

    /// The same while something else waits: right after an import some may be missing.
    pub fn instructions_at_hand(&self, project: &str) -> Result<Vec<ListedInstruction>, HomeError> {
        match self.stores.find_store_path(project) {
            Some(path) => self.instructions.list_at_hand(&self.stores.open(&path)?, project),
            None => Ok(Vec::new()),
        }
    }

    /// The underlying stores.
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Time zone in which days begin and end.
    pub fn zone(&self) -> &Zone {
        &self.settings.zone
    }

    /// A longer pause ends a segment.
    pub fn gap_ms(&self) -> u64 {
        self.settings.gap_ms
    }

    /// Marks entries as closed that nothing can be added to any more, whether or not their sessions
    /// were ended properly.
    fn close_past(&self, entries: &mut [ContentsEntry]) {
        for entry in entries {
            entry.open &= self.is_current(&entry.id, entry.last_at);
            self.close_past(&mut entry.entries);
        }
    }

    /// Whether a period is not over, or a segment not idle for longer than a pause that ends it.
    fn is_current(&self, id: &NodeId, last_at: Millis) -> bool {
        let now = self.clock.now();
        let active = last_at.distance_ms(now) <= self.settings.gap_ms || last_at > now;
        let period = id.period().filter(|_| id.level() != Level::Segment);
        active || period.is_some_and(|period| period.range(&self.settings.zone).1 > now)
    }

    /// Paths of the stores that hold a project's contents, or of all stores.
    fn store_paths(&self, project: Option<&str>) -> Vec<PathBuf> {
        match project {
            Some(root) => self.stores.find_store_path(root).into_iter().collect(),
            None => self.stores.list_paths(),
        }
    }

    /// Visits one project, or every project of every store, after catching up. Returns descriptions
    /// of the unreadable stores, unless a single project was given.
    fn for_each_project(
        &self,
        project: Option<&str>,
        mut visit: impl FnMut(&Ledger, &str) -> Result<(), HomeError>,
    ) -> Result<Vec<String>, HomeError> {
        let (mut skipped, mut failed, mut read) = (Vec::new(), None, 0);
        let paths = self.store_paths(project);
        let _wide_scan = (paths.len() > OPEN_STORES_MAX).then(|| self.stores.lock_wide_scan());
        for path in paths {
            match self.visit_store(&path, project, &mut visit) {
                Ok(()) => read += 1,
                Err(error) if project.is_some() => return Err(error),
                Err(error) => {
                    skipped.push(describe_unreadable(&path, &error));
                    failed.get_or_insert(error);
                }
            }
            if read > OPEN_STORES_MAX {
                self.stores.close(&path);
            }
        }
        match failed {
            Some(error) if read == 0 => Err(error),
            _ => Ok(skipped),
        }
    }

    fn visit_store(
        &self,
        path: &Path,
        project: Option<&str>,
        visit: &mut impl FnMut(&Ledger, &str) -> Result<(), HomeError>,
    ) -> Result<(), HomeError> {
        let store = self.stores.open(path)?;
        self.catch_up(&store, &|| false)?;
        match project {
            Some(root) => visit(&store, root),
            None => store.contents_projects()?.iter().try_for_each(|root| visit(&store, root)),
        }
    }
}
