//! The current project and session, relative to which citations are shortened.

use std::path::Path;

use tome_home::Projects;

/// The current project and session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Viewpoint {
    /// Root folder of the project.
    pub project: Option<String>,
    /// Session id.
    pub session: Option<String>,
}

pub(super) fn find_project_root(projects: &Projects, folder: &str) -> Option<String> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == folder);
    projects.all().into_iter().find(|(_, path)| is_named(path)).map(|(root, _)| root)
}
