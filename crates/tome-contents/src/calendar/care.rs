//! Care for the contents: keeping up with the events, checking, making anew, saying how far it is.

use std::path::{Path, PathBuf};

use super::Calendar;
use crate::{CONTENTS, Rebuilt, Report, catch_up_contents, rebuild_contents, verify_contents};
use tome_home::{HomeError, Projection, ProjectionReport, Store, TALLY};

/// What became of one store when its contents were made anew.
#[derive(Debug)]
pub struct StoreRebuilt {
    /// The store.
    pub path: PathBuf,
    /// How many are done, this one included.
    pub done: usize,
    /// How many there are.
    pub stores: usize,
    /// What has changed, or why it could not be done.
    pub outcome: Result<Rebuilt, HomeError>,
}

/// What checking one store found.
#[derive(Debug)]
pub struct StoreChecked {
    /// The store.
    pub path: PathBuf,
    /// What is wrong with its contents, or why they could not be checked.
    pub outcome: Result<Report, HomeError>,
}

/// How far the workers of a store are, and what is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreReport {
    /// The store.
    pub path: PathBuf,
    /// Its engine's name.
    pub engine: &'static str,
    /// How many events it has.
    pub events: u64,
    /// How much room it takes.
    pub disk_bytes: u64,
    /// The workers that keep their cursors in it.
    pub workers: Vec<ProjectionReport>,
    /// Nodes that are there.
    pub nodes: u64,
    /// Versions that were made of them, and of those that have gone.
    pub versions: u64,
    /// Grips that are there.
    pub grips: u64,
    /// Why it cannot be read; nothing else is known then.
    pub problem: Option<String>,
}

impl Projection for Calendar {
    fn name(&self) -> &'static str {
        CONTENTS
    }

    fn catch_up(&self, store: &Store, _stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        catch_up_contents(store, &self.settings, &*self.summarizer, &*self.clock)?;
        Ok(())
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        rebuild_contents(store, &self.settings, &*self.summarizer, &*self.clock)?;
        Ok(())
    }
}

impl Calendar {
    /// Makes the contents of the store that holds a project, or of all stores, anew from their
    /// events, and tells of each store when it is done.
    pub fn rebuild(&self, project: Option<&str>, mut tell: impl FnMut(StoreRebuilt)) {
        let paths = self.paths(project);
        for (done, path) in (1..).zip(&paths) {
            let outcome = self.rebuild_store(path);
            tell(StoreRebuilt { path: path.clone(), done, stores: paths.len(), outcome });
            if done > super::LEFT_OPEN_MAX {
                self.stores.close(path);
            }
        }
    }

    fn rebuild_store(&self, path: &Path) -> Result<Rebuilt, HomeError> {
        let store = self.stores.open(path)?;
        rebuild_contents(&store, &self.settings, &*self.summarizer, &*self.clock)
    }

    /// Checks the contents of the store that holds a project, or of all stores, against the events.
    pub fn verify(&self, project: Option<&str>) -> Vec<StoreChecked> {
        let checked = self.paths(project).into_iter().enumerate().map(|(done, path)| {
            let outcome = self.verify_store(&path);
            if done > super::LEFT_OPEN_MAX {
                self.stores.close(&path);
            }
            StoreChecked { path, outcome }
        });
        checked.collect()
    }

    fn verify_store(&self, path: &Path) -> Result<Report, HomeError> {
        let store = self.stores.open(path)?;
        self.catch_up(&store, &|| false)?;
        verify_contents(&store, &self.settings)
    }

    /// How far the workers are. They are not told to go on: what is behind is said to be.
    pub fn report(&self) -> Vec<StoreReport> {
        let paths = self.stores.paths();
        let reported = paths.iter().enumerate().map(|(done, path)| {
            let report = self.stores.open(path).and_then(|store| report(&store));
            if done > super::LEFT_OPEN_MAX {
                self.stores.close(path);
            }
            report.unwrap_or_else(|error| StoreReport {
                path: path.clone(),
                problem: Some(error.explained()),
                ..StoreReport::default()
            })
        });
        reported.collect()
    }
}

fn report(store: &Store) -> Result<StoreReport, HomeError> {
    let mut report = StoreReport {
        path: store.path().to_path_buf(),
        engine: store.engine().as_str(),
        events: store.last_seq(),
        disk_bytes: store.disk_bytes(),
        ..StoreReport::default()
    };
    for name in [TALLY, CONTENTS] {
        let cursor = store.cursor(name)?;
        let behind = report.events.saturating_sub(cursor);
        report.workers.push(ProjectionReport {
            name,
            cursor,
            behind,
            ..ProjectionReport::default()
        });
    }
    for project in store.contents_projects()? {
        for head in store.heads(&project, "", None) {
            let head = head?;
            report.nodes += u64::from(!head.removed);
            report.versions += u64::from(head.version);
        }
        for grip in store.grips(&project, None) {
            grip?;
            report.grips += 1;
        }
    }
    Ok(report)
}
