//! Restricts a search to some records; the same for every index and for scans without one.

use tome_model::Millis;

use crate::{IndexEntry, RecordKind};

/// Conditions on a record, all of which must hold. The default admits every record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// Allowed sources; empty: all.
    pub sources: Vec<RecordKind>,
    /// Root folder of the project.
    pub project: Option<String>,
    /// Session id.
    pub session: Option<String>,
    /// Allowed agents; empty: all.
    pub agents: Vec<String>,
    /// Allowed event kinds or types of lessons; empty: all. Excludes every other record if set,
    /// because those have no kind.
    pub kinds: Vec<String>,
    /// Inclusive.
    pub from: Option<Millis>,
    /// Exclusive.
    pub to: Option<Millis>,
}

/// The properties of a record that a filter tests.
#[derive(Debug, Clone, Copy)]
pub struct RecordMeta<'a, A = &'a str> {
    /// Kind of record.
    pub source: RecordKind,
    /// Time of the event, or of the record's last change.
    pub at: Millis,
    /// Root folder of the project; empty for the coder's notebook.
    pub project: &'a str,
    /// Empty if there is none.
    pub session: &'a str,
    /// The agents involved; one of them has to be allowed.
    pub agents: &'a [A],
    /// Name of the event kind, or of a lesson's type; empty for other records.
    pub kind: &'a str,
}

impl EntryFilter {
    /// Returns whether a record meets all conditions.
    pub fn admits<A: AsRef<str>>(&self, record: &RecordMeta<'_, A>) -> bool {
        let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|it| it == has);
        let is_in = |wanted: &[String], has: &str| wanted.iter().any(|one| one == has);
        self.admits_source(record.source)
            && is(&self.project, record.project)
            && is(&self.session, record.session)
            && (self.agents.is_empty()
                || record.agents.iter().any(|agent| is_in(&self.agents, agent.as_ref())))
            && (self.kinds.is_empty() || is_in(&self.kinds, record.kind))
            && self.from.is_none_or(|from| record.at >= from)
            && self.to.is_none_or(|to| record.at < to)
    }

    /// Returns whether records of a source can meet the conditions.
    pub fn admits_source(&self, source: RecordKind) -> bool {
        self.sources.is_empty() || self.sources.contains(&source)
    }
}

impl IndexEntry {
    /// The properties that a filter tests.
    pub fn meta(&self) -> RecordMeta<'_, String> {
        RecordMeta {
            source: self.source,
            at: self.at,
            project: &self.project,
            session: &self.session,
            agents: std::slice::from_ref(&self.agent),
            kind: &self.kind,
        }
    }
}
