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

    /// The number of an event, because that is shorter than its line in a file; otherwise the
    /// citation.
    pub(super) fn short_id(&self, candidate: &RecallCandidate) -> String {
        match &candidate.body {
            Some(body) if body.order_key().is_some() => {
                let number = body.order_key().map_or(0, |order_key| order_key.seq);
                format!("{}#{number}", self.project_prefix(&body.project))
            }
            _ => self.cite(candidate),
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
            PageKey::Lesson { path, .. } => format!("coder/{path}"),
        }
    }

    fn session_path(&self, project: &str, folder: &str, file: &str) -> String {
        let is_here = self.session == Some(folder) && self.project == Some(project);
        if is_here {
            file.to_owned()
        } else {
            format!("{}sessions/{folder}/{file}", self.project_prefix(project))
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

#[cfg(test)]
mod tests {
    use tome_home::Home;
    use tome_model::Millis;

    use super::*;
    use crate::Citation;

    #[test]
    fn citations_are_relative_to_project_and_session() {
        let home = tempfile::tempdir().unwrap();
        let projects = Projects::load(&Home::at(home.path()));
        for root in ["/code/app", "/code-app"] {
            projects.ensure_folder(root, Millis(1)).unwrap();
        }
        let view = |project, session| CitationContext { projects: &projects, project, session };
        let message = |from: CitationContext<'_>| {
            let file = from.session_path("/code/app", "~s%2F1", "messages.jsonl");
            format!("{file}#L4").parse::<Citation>().unwrap().to_string()
        };
        assert_eq!(message(view(Some("/code/app"), Some("~s%2F1"))), "messages.jsonl#L4");
        let other = "sessions/~s%2F1/messages.jsonl#L4";
        assert_eq!(message(view(Some("/code/app"), Some("s2"))), other);
        assert_eq!(message(view(Some("/code/app"), None)), other);
        let afar = format!("projects/--code-app--/{other}");
        assert_eq!(message(view(None, None)), afar);
        let local = "a session is local only within its project";
        assert_eq!(message(view(None, Some("~s%2F1"))), afar, "{local}");
        assert_eq!(message(view(Some("/code-app"), Some("~s%2F1"))), afar, "{local}");

        let here = view(Some("/code/app"), Some("s2"));
        let (version, path) = (String::new(), "facts/x.md".to_owned());
        let note = |project: &str| {
            let (project, path, version) = (project.to_owned(), path.clone(), version.clone());
            here.cite_file(&PageKey::Note { project, path, version })
        };
        assert_eq!(note("/code/app"), "memory/facts/x.md");
        // Two projects with the same name stay distinct.
        let far = note("/code-app");
        assert!(far.starts_with("projects/--code-app--.") && far.ends_with("/memory/facts/x.md"));
        let path = "semantic/a.md".to_owned();
        let lesson = PageKey::Lesson { path, version: version.clone() };
        assert_eq!(here.cite_file(&lesson), "coder/semantic/a.md");
        let (project, folder, path) = ("/code/app".into(), "s2".into(), "detail/x.md".into());
        let detail = PageKey::Detail { project, folder, path, version };
        assert_eq!(here.cite_file(&detail), "detail/x.md");
        assert_eq!(here.project_prefix("/code/app"), "");
        assert_eq!(view(None, None).project_prefix("/code/app"), "projects/--code-app--/");
        for id in ["toc:day:2026-11-14", "grip:5:01M7F8NJE081NE5M6R663JJXQ2"] {
            let far = format!("{}{id}", view(None, None).project_prefix("/code/app"));
            assert_eq!(far.parse::<Citation>().unwrap().to_string(), far);
        }
    }
}
