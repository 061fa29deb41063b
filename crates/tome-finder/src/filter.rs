//! Which entries may be found at all. The same for every index.

use tome_model::Millis;

use crate::{Entry, Source};

/// What is asked for. Empty: everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only these sources; empty: all.
    pub sources: Vec<Source>,
    /// Only of this project.
    pub project: Option<String>,
    /// Only of this session.
    pub session: Option<String>,
    /// Only of these agents; empty: all.
    pub agents: Vec<String>,
    /// Only events of these kinds; empty: all. Other things have no kind and are not found then.
    pub kinds: Vec<String>,
    /// From this moment on.
    pub since: Option<Millis>,
    /// Before this moment.
    pub until: Option<Millis>,
}

impl Filter {
    /// Whether an entry may be found.
    pub fn admits(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|it| it == has);
        let has_one =
            |wanted: &[String], has: &str| wanted.is_empty() || wanted.iter().any(|one| one == has);
        (self.sources.is_empty() || self.sources.contains(&entry.source))
            && is(&self.project, &entry.project)
            && is(&self.session, &entry.session)
            && has_one(&self.agents, &entry.agent)
            && has_one(&self.kinds, &entry.kind)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
    }
}
