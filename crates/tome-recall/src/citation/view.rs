//! The current project and session, relative to which citations are shortened.

use std::path::Path;

use tome_model::{GripId, NodeId};

use super::{Citation, CitedPlace};
use tome_home::{Projects, layout};

/// The current project and session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Viewpoint {
    /// Root folder of the project.
    pub project: Option<String>,
    /// Session id.
    pub session: Option<String>,
}

impl Viewpoint {
    /// Cites an event by its line in the session's transcript.
    pub fn message(&self, projects: &Projects, root: &str, session: &str, line: u32) -> Citation {
        let session = self.other_session(root, session);
        self.of(projects, root, CitedPlace::Message { session, line })
    }

    /// Cites a session's note: `overview.md` or `detail/….md`.
    pub fn detail(
        &self,
        projects: &Projects,
        root: &str,
        session: &str,
        (path, line): (&str, Option<u32>),
    ) -> Citation {
        let session = self.other_session(root, session);
        self.of(projects, root, CitedPlace::Detail { session, path: path.to_owned(), line })
    }

    /// Cites a note of a project's notebook.
    pub fn note(
        &self,
        projects: &Projects,
        root: &str,
        (path, line): (&str, Option<u32>),
    ) -> Citation {
        self.of(projects, root, CitedPlace::Note { path: path.to_owned(), line })
    }

    /// Cites a lesson of the coder's notebook.
    pub fn insight(&self, path: &str, line: Option<u32>) -> Citation {
        Citation { project: None, place: CitedPlace::Insight { path: path.to_owned(), line } }
    }

    /// Cites a node.
    pub fn node(&self, projects: &Projects, root: &str, id: &NodeId) -> Citation {
        self.of(projects, root, CitedPlace::Node(id.clone()))
    }

    /// Cites a source of a bullet.
    pub fn grip(&self, projects: &Projects, root: &str, id: &GripId) -> Citation {
        self.of(projects, root, CitedPlace::Grip(id.clone()))
    }

    fn of(&self, projects: &Projects, root: &str, place: CitedPlace) -> Citation {
        let project = (!self.is_here(root)).then(|| {
            let folder = projects.would_be_folder(root);
            folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
        });
        Citation { project, place }
    }

    fn is_here(&self, root: &str) -> bool {
        self.project.as_deref() == Some(root)
    }

    /// Returns the folder of a session unless it is the current one.
    fn other_session(&self, root: &str, session: &str) -> Option<String> {
        let is_at_hand = self.is_here(root) && self.session.as_deref() == Some(session);
        (!is_at_hand).then(|| layout::session_name(session))
    }
}

pub(super) fn root_of(projects: &Projects, folder: &str) -> Option<String> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == folder);
    projects.all().into_iter().find(|(_, path)| is_named(path)).map(|(root, _)| root)
}
