//! Merges a clone of a repository into another: events and notes are copied, and the clone's folder in the
//! home is set aside as it was.
//!
//! Each step recognizes what an interrupted merge has done: events by their ids, notes by their content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_home::{HomeError, NotebookOwner, layout};
use tome_model::{InvalidInput, Scope};

use crate::Engine;
use crate::backup::{copy_notebook, merge_notebook};

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedProject {
    /// Events of the merged project, all of which the other one has now.
    pub events: u64,
    /// Notes that were copied, under another name where one of that name differs.
    pub notes: u64,
    /// Where the folder of the merged project is kept.
    pub kept: PathBuf,
}

impl Engine {
    /// Merges one project into another. Fails with [`HomeError::InUse`] while a projection uses its store.
    pub fn merge_project(&self, from: &str, into: &str) -> Result<MergedProject, HomeError> {
        let projects = self.stores().projects();
        let (Some(folder), true) = (projects.find_folder(from), from != into) else {
            let problem = format!("{from} cannot be merged into {into}");
            return Err(InvalidInput::invalid("project", problem).into());
        };
        if projects.find_folder(into).is_none() {
            return Err(HomeError::NotFound(format!("there is no project {into}")));
        }
        let events = self.stores().copy_project(from, into)?;
        let notes = self.merge_notes(&folder, into)?;
        let ledger = folder.join("ledger");
        self.close(&ledger);
        if self.stores().is_open(&ledger) {
            return Err(HomeError::InUse(ledger));
        }
        let kept = projects.merge_into(from, into)?;
        Ok(MergedProject { events, notes, kept })
    }

    fn merge_notes(&self, from: &Path, into: &str) -> Result<u64, HomeError> {
        let source = layout::notebook_dir(from);
        let staging = self.home().run().join("merge");
        if !copy_notebook(&source, &staging).map_err(HomeError::file("copy", &source))? {
            return Ok(0);
        }
        let projects = self.stores().projects();
        let owner =
            NotebookOwner { scope: Scope::Project, cwd: Some(into.to_owned()), session: None };
        let notebook = if projects.find_known_project(into).as_deref() == Some(into) {
            self.notebooks().open(&owner)?
        } else {
            let folder = layout::notebook_dir(&projects.planned_folder(into));
            let clock = Arc::clone(self.clock());
            Arc::new(tome_notebook::Notebook::new(Scope::Project, folder, clock))
        };
        let history = layout::history_dir(&projects.planned_folder(into));
        let merged = merge_notebook(&notebook, &history, &staging);
        let _ = std::fs::remove_dir_all(&staging);
        let merged = merged?;
        Ok(merged.notes + merged.beside)
    }
}
