//! Maintenance of the contents: catch up, verify, rebuild, report progress.

use std::path::{Path, PathBuf};

use super::Calendar;
use crate::{
    CONTENTS, EngineError, Rebuilt, Report, Store, TALLY, WorkerReport, catch_up_contents,
    rebuild_contents, verify_contents,
};

/// Result of rebuilding the contents of one store.
#[derive(Debug)]
pub struct StoreRebuilt {
    /// Path of the store.
    pub path: PathBuf,
    /// Stores done so far, including this one.
    pub done: usize,
    /// Stores in total.
    pub stores: usize,
    /// The counts, or why the rebuild failed.
    pub outcome: Result<Rebuilt, EngineError>,
}

/// Result of verifying one store.
#[derive(Debug)]
pub struct StoreChecked {
    /// Path of the store.
    pub path: PathBuf,
    /// The problems found, or why the check failed.
    pub outcome: Result<Report, EngineError>,
}

/// Size and worker progress of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreReport {
    /// Path of the store.
    pub path: PathBuf,
    /// Name of its storage engine.
    pub engine: &'static str,
    /// Number of events.
    pub events: u64,
    /// Size on disk.
    pub disk_bytes: u64,
    /// Workers with a cursor in this store.
    pub workers: Vec<WorkerReport>,
    /// Existing nodes.
    pub nodes: u64,
    /// Versions of all nodes, including removed ones.
    pub versions: u64,
    /// Stored grips.
    pub grips: u64,
    /// Why the store cannot be read; all other fields are then empty.
    pub problem: Option<String>,
}

impl Calendar {
    /// Processes everything that arrived in a store since the last run.
    pub fn catch_up(&self, store: &Store) -> Result<(), EngineError> {
        catch_up_contents(store, &self.settings, &*self.summarizer, &*self.clock)?;
        Ok(())
    }

    /// Whether some events are not in the contents yet.
    pub fn is_behind(&self, store: &Store) -> Result<bool, EngineError> {
        Ok(store.cursor(CONTENTS)? < store.last_seq())
    }

    /// Rebuilds the contents of the store that holds a project, or of all stores, and reports each
    /// store when it is done.
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

    fn rebuild_store(&self, path: &Path) -> Result<Rebuilt, EngineError> {
        let store = self.stores.open(path)?;
        rebuild_contents(&store, &self.settings, &*self.summarizer, &*self.clock)
    }

    /// Verifies the contents of the store that holds a project, or of all stores, against the
    /// events.
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

    fn verify_store(&self, path: &Path) -> Result<Report, EngineError> {
        let store = self.stores.open(path)?;
        self.catch_up(&store)?;
        verify_contents(&store, &self.settings)
    }

    /// Reports size and worker progress of all stores, without catching up first.
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

fn report(store: &Store) -> Result<StoreReport, EngineError> {
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
        report.workers.push(WorkerReport { name, cursor, behind, ..WorkerReport::default() });
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
