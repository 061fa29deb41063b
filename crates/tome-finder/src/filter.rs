//! Restricts a search to some entries; the same for every index.

use tome_model::Millis;

use crate::{EntrySource, IndexEntry};

/// Conditions on an entry, all of which must hold. The default admits every entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// Allowed sources; empty: all.
    pub sources: Vec<EntrySource>,
    /// Root folder of the project.
    pub project: Option<String>,
    /// Session id.
    pub session: Option<String>,
    /// Allowed agents; empty: all.
    pub agents: Vec<String>,
    /// Allowed event kinds; empty: all. Excludes every other source if set, because only events
    /// have a kind.
    pub kinds: Vec<String>,
    /// Inclusive.
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
}

impl EntryFilter {
    /// Returns whether an entry meets all conditions.
    pub fn admits(&self, entry: &IndexEntry) -> bool {
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
