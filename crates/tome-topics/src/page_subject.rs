//! What a page is about: which turns worked on it, and which statements concern it.

use std::collections::BTreeSet;

use tome_model::{CommandOutcome, FactKind, FileAction};

use crate::named::{TopicKind, error_signature};
use crate::path::{Rename, Renames, base_name, folder_of};
use crate::record::{DeletionRecord, FactRecord, FileRecord, TurnRecord};

/// The separator of a problem and how it ended, as the contents write it.
pub(crate) const OUTCOME: &str = " — ";

/// The subject of a page, and the parts of segments that belong to it.
pub(crate) struct PageSubject<'a> {
    pub(crate) kind: TopicKind,
    pub(crate) name: &'a str,
    pub(crate) renames: &'a Renames,
    /// The renames of a file, the latest first, each with the name before it.
    pub(crate) lineage: Vec<(&'a Rename, String)>,
}

impl<'a> PageSubject<'a> {
    pub(crate) fn new(kind: TopicKind, name: &'a str, renames: &'a Renames) -> Self {
        let lineage = if kind == TopicKind::File { renames.lineage(name) } else { Vec::new() };
        Self { kind, name, renames, lineage }
    }

    /// All names that a file had, the newest first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        std::iter::once(self.name).chain(self.lineage.iter().map(|(_, former)| former.as_str()))
    }

    /// The changes of a file in a turn.
    pub(crate) fn changes_in<'t>(
        &self,
        turn: &'t TurnRecord,
    ) -> impl Iterator<Item = &'t FileRecord> {
        turn.changed_files()
            .filter(|file| self.renames.name_after(&file.path, turn.moment_of(file)) == self.name)
    }
}

impl PageSubject<'_> {
    /// The deletions by shell commands in a turn, of the file itself or of a folder that it is in.
    pub(crate) fn deletions_in<'t>(
        &self,
        turn: &'t TurnRecord,
    ) -> impl Iterator<Item = &'t DeletionRecord> {
        turn.deletions.iter().filter(|one| {
            let path = self.renames.name_after(&one.path, (one.at, one.number));
            let rest = self.name.strip_prefix(path.as_str());
            self.kind == TopicKind::File
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Describes the effect of a turn on the subject; `None` if there is none.
    pub(crate) fn describe_turn(&self, turn: &TurnRecord) -> Option<String> {
        match self.kind {
            TopicKind::Group | TopicKind::Branch | TopicKind::Symbol => None,
            TopicKind::File => self.describe_file(turn),
            TopicKind::Folder => {
                let changed = self.renames.changed_names(turn).filter(|_| turn.is_focused());
                let files: BTreeSet<String> =
                    changed.filter(|path| folder_of(path) == Some(self.name)).collect();
                let names: Vec<&str> = files.iter().take(2).map(|path| base_name(path)).collect();
                match files.len() {
                    0 => None,
                    1 | 2 => Some(names.join(", ")),
                    many => Some(format!("{} and {} more", names.join(", "), many - 2)),
                }
            }
            TopicKind::Command => {
                let runs: Vec<CommandOutcome> = turn
                    .commands
                    .iter()
                    .filter(|run| run.name == self.name)
                    .map(|run| run.outcome)
                    .collect();
                let with = |outcome| runs.iter().filter(|one| **one == outcome).count();
                let parts = [
                    (with(CommandOutcome::Failed), "failed"),
                    (with(CommandOutcome::Passed), "passed"),
                ];
                let counts = parts.iter().filter(|(times, _)| *times > 0).map(|(times, word)| {
                    if *times == 1 { (*word).to_owned() } else { format!("{word} {times} times") }
                });
                (!runs.is_empty()).then(|| counts.collect::<Vec<_>>().join(", "))
            }
            TopicKind::Error => {
                let signature = error_signature(self.name);
                let error =
                    turn.errors.iter().find(|error| error_signature(&error.text) == signature)?;
                Some(format!("`{}` failed", error.command))
            }
            TopicKind::Package => {
                turn.packages.iter().any(|name| name == self.name).then(|| "added".to_owned())
            }
            TopicKind::Issue => {
                let is_it = |number: &u64| format!("#{number}") == self.name;
                turn.issues.iter().any(is_it).then(String::new)
            }
        }
    }

    fn describe_file(&self, turn: &TurnRecord) -> Option<String> {
        let moved = self
            .lineage
            .iter()
            .find(|(rename, _)| turn.moves.iter().any(|one| (one.at, one.number) == rename.moment));
        let mut edits = 0;
        let mut words: Vec<String> = Vec::new();
        for file in self.changes_in(turn) {
            match file.action {
                FileAction::Changed => edits += file.times,
                FileAction::Created | FileAction::Deleted => {
                    words.push(file.action.as_str().to_owned());
                }
                FileAction::Read => {}
            }
        }
        if self.deletions_in(turn).next().is_some() {
            words.push(FileAction::Deleted.as_str().to_owned());
        }
        match edits {
            0 => {}
            1 => words.push("1 edit".to_owned()),
            many => words.push(format!("{many} edits")),
        }
        words.extend(moved.map(|(_, former)| format!("renamed from {former}")));
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Whether a statement is about the subject, not only made at the same time.
    pub(crate) fn concerns(&self, fact: &FactRecord, turn: Option<&TurnRecord>) -> bool {
        match self.kind {
            TopicKind::File => {}
            // A turn that runs a command is seldom about the command.
            TopicKind::Command => {
                return fact.kind == FactKind::Problem
                    && fact.text.starts_with(&format!("`{}`", self.name));
            }
            TopicKind::Error if fact.kind == FactKind::Problem => {
                return is_failure_with(&fact.text, self.name);
            }
            _ => return true,
        }
        let is_named = self.names().any(|name| mentions_file(&fact.text, name));
        let is_only = turn.is_some_and(|turn| {
            let paths: BTreeSet<&str> =
                turn.changed_files().map(|file| file.path.as_str()).collect();
            paths.len() == 1 && self.changes_in(turn).next().is_some()
        });
        is_named || is_only
    }
}

/// Whether a problem is a failure with this message; either may be cut.
fn is_failure_with(problem: &str, message: &str) -> bool {
    let Some((_, failure)) = problem.split_once("` failed: ") else { return false };
    let failure = failure.rsplit_once(OUTCOME).map_or(failure, |(failure, _)| failure);
    let signature = |text: &str| error_signature(text.trim_end_matches('…'));
    let (one, other) = (signature(failure), signature(message));
    !one.is_empty() && !other.is_empty() && (one.starts_with(&other) || other.starts_with(&one))
}

/// Whether a text names a file by its base name, as a whole word.
pub(crate) fn mentions_file(text: &str, path: &str) -> bool {
    let base = base_name(path);
    text.match_indices(base).any(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + base.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
