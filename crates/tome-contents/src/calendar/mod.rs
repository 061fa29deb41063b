//! The calendar: the contents of one project, or of all projects merged, as a tree.
//!
//! Contents are stored per project. A query first lets the contents worker catch up, then visits
//! stores one at a time, because there may be more than can be open. An unreadable store is skipped
//! and named in the answer; a query for its project alone returns the error.

mod care;
mod entry;
mod find;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use tome_ledger::Ledger;
use tome_model::{Clock, Zone};

use crate::{ContentsSettings, Summarizer};
use tome_home::{HomeError, Projection, Stores};

pub use care::{StoreChecked, StoreRebuilt, StoreReport};
pub use entry::{Depth, Entry, Share};
pub use find::NodeInPlace;
pub use walk::{Ask, Entries, EntriesPage, entries_at};

/// Stores kept open after a query; further ones are closed after use.
const LEFT_OPEN_MAX: usize = 8;

/// The contents of all stores of a home.
pub struct Calendar {
    stores: Arc<Stores>,
    settings: ContentsSettings,
    summarizer: Arc<dyn Summarizer>,
    clock: Arc<dyn Clock>,
}

impl Calendar {
    /// Opens the calendar over `stores`.
    pub fn new(
        stores: Arc<Stores>,
        settings: ContentsSettings,
        summarizer: Arc<dyn Summarizer>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { stores, settings, summarizer, clock }
    }

    /// The underlying stores.
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Time zone in which days begin and end.
    pub fn zone(&self) -> &Zone {
        &self.settings.zone
    }

    /// Paths of the stores that hold a project's contents, or of all stores.
    fn paths(&self, project: Option<&str>) -> Vec<PathBuf> {
        match project {
            Some(root) => self.stores.existing(root).into_iter().collect(),
            None => self.stores.paths(),
        }
    }

    /// Visits one project, or every project of every store, after catching up. Returns descriptions
    /// of the unreadable stores, unless a single project was given.
    fn each(
        &self,
        project: Option<&str>,
        mut visit: impl FnMut(&Ledger, &str) -> Result<(), HomeError>,
    ) -> Result<Vec<String>, HomeError> {
        let (mut skipped, mut failed, mut read) = (Vec::new(), None, 0);
        let paths = self.paths(project);
        let _few_at_a_time = (paths.len() > LEFT_OPEN_MAX)
            .then(|| self.stores.wide.lock().unwrap_or_else(PoisonError::into_inner));
        for path in paths {
            match self.visit(&path, project, &mut visit) {
                Ok(()) => read += 1,
                Err(error) if project.is_some() => return Err(error),
                Err(error) => {
                    skipped.push(unreadable(&path, &error));
                    failed.get_or_insert(error);
                }
            }
            if read > LEFT_OPEN_MAX {
                self.stores.close(&path);
            }
        }
        match failed {
            Some(error) if read == 0 => Err(error),
            _ => Ok(skipped),
        }
    }

    fn visit(
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

/// What is said of a store that was left out. The path comes first, unless the reason names it.
fn unreadable(path: &Path, error: &HomeError) -> String {
    let (path, why) = (path.display().to_string(), error.explained());
    if why.contains(&path) { why } else { format!("{path}: {why}") }
}
