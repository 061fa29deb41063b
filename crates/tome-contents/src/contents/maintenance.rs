//! Maintenance of the contents: catch up, verify, rebuild, report progress.

use std::path::{Path, PathBuf};

use super::Contents;
use crate::{
    CONTENTS_PROJECTION, ContentsRebuildReport, ContentsVerifyReport, catch_up_contents,
    rebuild_contents, verify_contents,
};
use tome_home::{HomeError, Projection, ProjectionReport, Store};

/// Result of rebuilding the contents of one store.
#[derive(Debug)]
pub struct StoreRebuildResult {
    /// Path of the store.
    pub path: PathBuf,
    /// Stores done so far, including this one.
    pub done: usize,
    /// Stores in total.
    pub stores: usize,
    /// The counts, or why the rebuild failed.
    pub outcome: Result<ContentsRebuildReport, HomeError>,
}

/// Result of verifying one store.
#[derive(Debug)]
pub struct StoreVerifyResult {
    /// Path of the store.
    pub path: PathBuf,
    /// The problems found, or why the check failed.
    pub outcome: Result<ContentsVerifyReport, HomeError>,
}

/// Size of a store and of the contents in it.
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
    /// Nodes that are there.
    pub nodes: u64,
    /// Versions of all nodes, including removed ones.
    pub versions: u64,
    /// Stored grips.
    pub grips: u64,
    /// Why the store cannot be read; all other fields are then empty.
    pub problem: Option<String>,
}

impl Projection for Contents {
    fn name(&self) -> &'static str {
        CONTENTS_PROJECTION
    }

    fn catch_up(&self, store: &Store, _stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        catch_up_contents(store, &self.settings, &*self.summarizer, &*self.clock)?;
        Ok(())
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        rebuild_contents(store, &self.settings, &*self.summarizer, &*self.clock)?;
        Ok(())
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        Ok(vec![ProjectionReport::from_cursor(CONTENTS_PROJECTION, store)?])
    }
}

impl Contents {
    /// Rebuilds the contents of the store that holds a project, or of all stores, from their
    /// events, and tells of each store when it is done.
    pub fn rebuild(&self, project: Option<&str>, mut tell: impl FnMut(StoreRebuildResult)) {
        let paths = self.store_paths(project);
        for (done, path) in (1..).zip(&paths) {
            let outcome = self.rebuild_store(path);
            tell(StoreRebuildResult { path: path.clone(), done, stores: paths.len(), outcome });
            if done > super::OPEN_STORES_MAX {
                self.stores.close(path);
            }
        }
    }

    fn rebuild_store(&self, path: &Path) -> Result<ContentsRebuildReport, HomeError> {
        let store = self.stores.open(path)?;
        rebuild_contents(&store, &self.settings, &*self.summarizer, &*self.clock)
    }

    /// Verifies the contents of the store that holds a project, or of all stores, against the
    /// events.
    pub fn verify(&self, project: Option<&str>) -> Vec<StoreVerifyResult> {
        let checked = self.store_paths(project).into_iter().enumerate().map(|(done, path)| {
            let outcome = self.verify_store(&path);
            if done > super::OPEN_STORES_MAX {
                self.stores.close(&path);
            }
            StoreVerifyResult { path, outcome }
        });
        checked.collect()
    }

    fn verify_store(&self, path: &Path) -> Result<ContentsVerifyReport, HomeError> {
        let store = self.stores.open(path)?;
        self.catch_up(&store, &|| false)?;
        verify_contents(&store, &self.settings)
    }

    /// Reports the size of all stores and of their contents, without catching up first.
    pub fn store_reports(&self) -> Vec<StoreReport> {
        let paths = self.stores.list_paths();
        let reported = paths.iter().enumerate().map(|(done, path)| {
            let report = self.stores.open(path).and_then(|store| build_store_report(&store));
            if done > super::OPEN_STORES_MAX {
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

fn build_store_report(store: &Store) -> Result<StoreReport, HomeError> {
    let mut report = StoreReport {
        path: store.path().to_path_buf(),
        engine: store.engine().as_str(),
        events: store.last_seq(),
        disk_bytes: store.disk_bytes(),
        ..StoreReport::default()
    };
    for project in store.contents_projects()? {
        for head in store.node_headers(&project, "", None) {
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
