//! The calendar: the contents of one project, or of all of them laid over each other, as a tree.
//!
//! Contents are kept apart by project, wherever their events are stored. Whoever asks sees what has
//! arrived: the worker catches up first. Stores are gone through once for a question, one at a time,
//! because more of them may be there than can be open. One that cannot be read keeps none of the
//! others from being read: it is left out and named in the answer. Who asks for its project alone is
//! told what is wrong.

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

/// Stores that are left open after a question: more are closed as they are done with.
const LEFT_OPEN_MAX: usize = 8;

/// The contents of a home.
pub struct Calendar {
    stores: Arc<Stores>,
    settings: ContentsSettings,
    summarizer: Arc<dyn Summarizer>,
    clock: Arc<dyn Clock>,
}

impl Calendar {
    /// The contents of some stores, made in this way.
    pub fn new(
        stores: Arc<Stores>,
        settings: ContentsSettings,
        summarizer: Arc<dyn Summarizer>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { stores, settings, summarizer, clock }
    }

    /// The stores whose contents these are.
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Where days are days.
    pub fn zone(&self) -> &Zone {
        &self.settings.zone
    }

    /// The stores that hold a project's contents, or all of them.
    fn paths(&self, project: Option<&str>) -> Vec<PathBuf> {
        match project {
            Some(root) => self.stores.existing(root).into_iter().collect(),
            None => self.stores.paths(),
        }
    }

    /// Visits every project that is asked for, each in its store, which has caught up. Returns what
    /// could not be read, unless one project alone was asked for.
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
