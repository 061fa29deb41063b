//! Statements about pull requests: each one once, with its last title, and whether it was opened or merged.

use tome_model::FactKind;

use crate::Evidence;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::git::pulls::{NamedPull, find_repository};
use crate::extract::language::text::plain_text;
use crate::extract::turns::turn::Turn;

const OPENED: &str = "Opened ";
const MERGED: &str = "Merged ";
/// After a pull request that was opened and merged.
const THEN_MERGED: &str = " (merged)";

/// The state of one pull request, according to the statements of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PullState {
    pub(crate) number: u64,
    repository: Option<String>,
    pub(crate) title: Option<String>,
    is_opened: bool,
    is_merged: bool,
}

impl PullState {
    pub(crate) fn from_call(pull: &NamedPull<'_>) -> Self {
        Self {
            number: pull.number,
            repository: find_repository(pull.raw).map(str::to_lowercase),
            title: pull.title.map(plain_text),
            is_opened: pull.is_opened,
            is_merged: pull.is_merged,
        }
    }

    /// Parses a statement, given the excerpt that shows it.
    pub(crate) fn parse(text: &str, excerpt: &str) -> Option<Self> {
        let is_merged = text.starts_with(MERGED) || text.ends_with(THEN_MERGED);
        let name = text.strip_prefix(OPENED).or_else(|| text.strip_prefix(MERGED)).unwrap_or(text);
        let name = name.strip_suffix(THEN_MERGED).unwrap_or(name).strip_prefix("PR #")?;
        let (number, title) = match name.split_once(": ") {
            Some((number, title)) => (number, Some(title.to_owned())),
            None => (name, None),
        };
        Some(Self {
            number: number.parse().ok()?,
            repository: find_repository(excerpt).map(str::to_lowercase),
            title,
            is_opened: text.starts_with(OPENED),
            is_merged,
        })
    }

    /// Whether two statements are about one pull request. Several repositories have one of the same number.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let repositories = (&self.repository, &other.repository);
        self.number == other.number
            && !matches!(repositories, (Some(one), Some(other)) if one != other)
    }

    /// Adds what a later statement says of it.
    pub(crate) fn add(&mut self, later: Self) {
        self.is_opened |= later.is_opened;
        self.is_merged |= later.is_merged;
        self.title = later.title.or(self.title.take());
        self.repository = self.repository.take().or(later.repository);
    }

    pub(crate) fn render(&self) -> String {
        let (before, after) = match (self.is_opened, self.is_merged) {
            (true, true) => (OPENED, THEN_MERGED),
            (true, false) => (OPENED, ""),
            (false, true) => (MERGED, ""),
            (false, false) => ("", ""),
        };
        let title = self.title.as_ref().map_or(String::new(), |title| format!(": {title}"));
        format!("{before}PR #{}{title}{after}", self.number)
    }
}

/// Adds a statement for each pull request that the turns opened, merged or looked at.
pub(crate) fn add_pull_facts(turns: &[Turn<'_>], facts: &mut Vec<DraftFact>) {
    let mut pulls: Vec<(PullState, Vec<Evidence>)> = Vec::new();
    for pull in turns.iter().flat_map(|turn| &turn.pulls) {
        let state = PullState::from_call(pull);
        let evidence = build_evidence(pull.event, pull.raw);
        match pulls.iter_mut().find(|(known, _)| known.is_same(&state)) {
            Some((known, shown)) => {
                known.add(state);
                // The call that opened it is evidence enough, unless it was merged.
                if pull.is_merged || pull.is_opened && shown.len() == 1 {
                    shown.push(evidence);
                }
            }
            None => pulls.push((state, vec![evidence])),
        }
    }
    facts.extend(pulls.into_iter().filter_map(|(pull, evidence)| {
        let weight = if pull.is_opened || pull.is_merged { 10 } else { 5 };
        DraftFact::new(FactKind::PullRequest, &pull.render(), weight, evidence)
    }));
}

/// Removes the words that say what happened to a pull request from a statement about it.
pub(crate) fn name_pull(text: &str) -> &str {
    let name = text.strip_prefix(OPENED).or_else(|| text.strip_prefix(MERGED)).unwrap_or(text);
    name.strip_suffix(THEN_MERGED).unwrap_or(name)
}
