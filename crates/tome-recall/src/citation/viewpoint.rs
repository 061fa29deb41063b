//! The current project and session, relative to which citations are shortened.

use std::path::Path;

use tome_model::{GripId, NodeId};

use super::{Citation, CitationTarget};
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
    pub fn cite_message(
        &self,
        projects: &Projects,
        root: &str,
        session: &str,
        line: u32,
    ) -> Citation {
        let session = self.other_session_folder(root, session);
        self.cite_target(projects, root, CitationTarget::Message { session, line })
    }

    /// Cites a session's note: `overview.md` or `detail/….md`.
    pub fn cite_detail(
        &self,
        projects: &Projects,
        root: &str,
        session: &str,
        (path, line): (&str, Option<u32>),
    ) -> Citation {
        let session = self.other_session_folder(root, session);
        self.cite_target(
            projects,
            root,
            CitationTarget::Detail { session, path: path.to_owned(), line },
        )
    }

    /// Cites a note of a project's notebook.
    pub fn cite_note(
        &self,
        projects: &Projects,
        root: &str,
        (path, line): (&str, Option<u32>),
    ) -> Citation {
        self.cite_target(projects, root, CitationTarget::Note { path: path.to_owned(), line })
    }

    /// Cites a lesson of the coder's notebook.
    pub fn cite_insight(&self, path: &str, line: Option<u32>) -> Citation {
        Citation { project: None, target: CitationTarget::Insight { path: path.to_owned(), line } }
    }

    /// Cites a node.
    pub fn cite_node(&self, projects: &Projects, root: &str, id: &NodeId) -> Citation {
        self.cite_target(projects, root, CitationTarget::Node(id.clone()))
    }

    /// Cites a source of a bullet.
    pub fn cite_grip(&self, projects: &Projects, root: &str, id: &GripId) -> Citation {
        self.cite_target(projects, root, CitationTarget::Grip(id.clone()))
    }

    fn cite_target(&self, projects: &Projects, root: &str, place: CitationTarget) -> Citation {
        let project = (!self.is_current_project(root)).then(|| {
            let folder = projects.planned_folder(root);
            folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
        });
        Citation { project, target: place }
    }

    fn is_current_project(&self, root: &str) -> bool {
        self.project.as_deref() == Some(root)
    }

    /// Returns the folder of a session unless it is the current one.
    fn other_session_folder(&self, root: &str, session: &str) -> Option<String> {
        let is_at_hand = self.is_current_project(root) && self.session.as_deref() == Some(session);
        (!is_at_hand).then(|| layout::session_dir_name(session))
    }
}

pub(super) fn find_project_root(projects: &Projects, folder: &str) -> Option<String> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == folder);
    projects.all().into_iter().find(|(_, path)| is_named(path)).map(|(root, _)| root)
}
