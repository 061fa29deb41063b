//! Where somebody stands who cites or opens: what is at hand has a short name.

use std::path::Path;

use tome_model::{GripId, NodeId};

use super::{Citation, CitedPlace};
use tome_home::{Projects, layout};

/// Where somebody stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Viewpoint {
    /// The root of the project at hand.
    pub project: Option<String>,
    /// The session at hand.
    pub session: Option<String>,
}

impl Viewpoint {
    /// The citation of an event, which is this line of its session's copy.
    pub fn message(&self, projects: &Projects, root: &str, session: &str, line: u32) -> Citation {
        let session = self.other_session(root, session);
        self.of(projects, root, CitedPlace::Message { session, line })
    }

    /// The citation of a session's note: `overview.md` or `detail/….md`.
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

    /// The citation of a note of a project's notebook.
    pub fn note(
        &self,
        projects: &Projects,
        root: &str,
        (path, line): (&str, Option<u32>),
    ) -> Citation {
        self.of(projects, root, CitedPlace::Note { path: path.to_owned(), line })
    }

    /// The citation of an insight of the coder's notebook.
    pub fn insight(&self, path: &str, line: Option<u32>) -> Citation {
        Citation { project: None, place: CitedPlace::Insight { path: path.to_owned(), line } }
    }

    /// The citation of a node.
    pub fn node(&self, projects: &Projects, root: &str, id: &NodeId) -> Citation {
        self.of(projects, root, CitedPlace::Node(id.clone()))
    }

    /// The citation of a grip.
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

    /// The folder of a session that is not the one at hand.
    fn other_session(&self, root: &str, session: &str) -> Option<String> {
        let is_at_hand = self.is_here(root) && self.session.as_deref() == Some(session);
        (!is_at_hand).then(|| layout::session_name(session))
    }
}

/// The root of the project whose folder has this name.
pub(super) fn root_of(projects: &Projects, folder: &str) -> Option<String> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == folder);
    projects.all().into_iter().find(|(_, path)| is_named(path)).map(|(root, _)| root)
}
