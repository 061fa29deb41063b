//! Renders the citation of a hit in the form that `tome show` opens.

use super::candidate::{CandidateRecord, RecallCandidate};
use super::indexer::PageKey;
use tome_home::{Projects, layout};

/// The current project and session, relative to which citations are shortened.
pub(super) struct CitationContext<'a> {
    pub projects: &'a Projects,
    pub project: Option<&'a str>,
    /// Folder of the session.
    pub session: Option<&'a str>,
}

impl CitationContext<'_> {
    pub(super) fn cite(&self, candidate: &RecallCandidate) -> String {
        let Some(body) = &candidate.body else { return String::new() };
        match &body.record {
            CandidateRecord::Event { id, .. } if candidate.line == 0 => id.to_string(),
            CandidateRecord::Event { .. } => {
                let folder = layout::session_dir_name(body.session.as_deref().unwrap_or_default());
                let file = self.session_path(&body.project, &folder, "messages.jsonl");
                format!("{file}#L{}", candidate.line)
            }
            CandidateRecord::ForeignLine { folder } => {
                let file = self.session_path(&body.project, folder, "messages.jsonl");
                format!("{file}#L{}", candidate.line)
            }
            CandidateRecord::Node { id } => format!("{}{id}", self.project_prefix(&body.project)),
            CandidateRecord::Grip { id } => format!("{}{id}", self.project_prefix(&body.project)),
            CandidateRecord::File { page } => {
                format!("{}#L{}", self.cite_file(page), candidate.line.max(1))
            }
        }
    }

    /// The citation of a file, without a line.
    pub(super) fn cite_file(&self, page: &PageKey) -> String {
        match page {
            PageKey::Node { id, .. } => id.to_string(),
            PageKey::Grip { id, .. } => id.to_string(),
            PageKey::Note { project, path, .. } => {
                format!("{}memory/{path}", self.project_prefix(project))
            }
            PageKey::Detail { project, folder, path, .. } => {
                self.session_path(project, folder, path)
            }
            PageKey::Insight { path, .. } => format!("coder/{path}"),
        }
    }

    fn session_path(&self, project: &str, folder: &str, file: &str) -> String {
        let is_here = self.session == Some(folder) && self.project == Some(project);
        match is_here {
            true => file.to_owned(),
            false => format!("{}sessions/{folder}/{file}", self.project_prefix(project)),
        }
    }

    /// Prefix of citations in another project; empty for the current one.
    fn project_prefix(&self, project: &str) -> String {
        if self.project == Some(project) {
            return String::new();
        }
        let folder = self.projects.planned_folder(project);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("projects/{name}/")
    }
}
