//! Renders the citation of a hit in the form that `tome show` opens.

use super::candidate::{Candidate, What};
use super::keeper::Page;
use tome_home::{Projects, layout};

/// The current project and session, relative to which citations are shortened.
pub(super) struct Cite<'a> {
    pub projects: &'a Projects,
    pub project: Option<&'a str>,
    /// Folder of the session.
    pub session: Option<&'a str>,
}

impl Cite<'_> {
    pub(super) fn of(&self, candidate: &Candidate) -> String {
        let Some(body) = &candidate.body else { return String::new() };
        match &body.what {
            What::Event { id, .. } if candidate.line == 0 => id.to_string(),
            What::Event { .. } => {
                let folder = layout::session_name(body.session.as_deref().unwrap_or_default());
                let file = self.of_session(&body.project, &folder, "messages.jsonl");
                format!("{file}#L{}", candidate.line)
            }
            What::Line { folder } => {
                let file = self.of_session(&body.project, folder, "messages.jsonl");
                format!("{file}#L{}", candidate.line)
            }
            What::Node { id } => format!("{}{id}", self.of_project(&body.project)),
            What::Grip { id } => format!("{}{id}", self.of_project(&body.project)),
            What::File { page } => format!("{}#L{}", self.file(page), candidate.line.max(1)),
        }
    }

    /// The citation of a file, without a line.
    pub(super) fn file(&self, page: &Page) -> String {
        match page {
            Page::Node { id, .. } => id.to_string(),
            Page::Grip { id, .. } => id.to_string(),
            Page::Note { project, path, .. } => {
                format!("{}memory/{path}", self.of_project(project))
            }
            Page::Detail { project, folder, path, .. } => self.of_session(project, folder, path),
            Page::Insight { path, .. } => format!("coder/{path}"),
        }
    }

    fn of_session(&self, project: &str, folder: &str, file: &str) -> String {
        let is_here = self.session == Some(folder) && self.project == Some(project);
        match is_here {
            true => file.to_owned(),
            false => format!("{}sessions/{folder}/{file}", self.of_project(project)),
        }
    }

    /// Prefix of citations in another project; empty for the current one.
    fn of_project(&self, project: &str) -> String {
        if self.project == Some(project) {
            return String::new();
        }
        let folder = self.projects.would_be_folder(project);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("projects/{name}/")
    }
}
