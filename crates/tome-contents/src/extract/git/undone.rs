//! Finds the commits that later calls of git took back: amended, reset or reverted ones.

use std::path::Path;

use tome_model::{Event, EventKind, Tool};

use crate::extract::commands::chain::split_chain;
use crate::extract::commands::command_name::{find_git_verb, strip_wrappers};
use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::git::commits::{MadeCommit, find_commits};

/// Maximum number of commits that one call undoes.
const COMMITS_UNDONE_MAX: usize = 100;
/// Digits of an abbreviated hash.
const HASH_DIGITS_MIN: usize = 7;

/// A commit that a tool call took back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UndoneCommit<'a> {
    pub(crate) event: usize,
    /// The text that shows it, verbatim.
    pub(crate) raw: &'a str,
    pub(crate) which: UndoneWhich<'a>,
}

/// Which commit was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UndoneWhich<'a> {
    /// The last one: `git reset HEAD~1`.
    Last,
    /// Every one after the commit this many before the one with this hash.
    After(&'a str, usize),
    /// The same, to commit them again as one: at least the last one.
    Squashed(&'a str, usize),
    /// The last one of this branch and this folder, which another commit replaced.
    Amended(Option<&'a str>, Option<String>),
    /// The last one with this subject.
    Reverted(&'a str),
}

impl<'a> UndoneCommit<'a> {
    /// The commit that a new one takes back: the one it amends, or the one it reverts.
    pub(crate) fn from_commit(commit: &MadeCommit<'a>) -> Option<Self> {
        let reverted =
            commit.subject.strip_prefix("Revert \"").and_then(|rest| rest.strip_suffix('"'));
        let which = match reverted {
            _ if commit.is_amended => UndoneWhich::Amended(commit.branch, commit.folder.clone()),
            Some(subject) => UndoneWhich::Reverted(subject),
            None => return None,
        };
        Some(Self { event: commit.event, raw: commit.raw, which })
    }

    /// Returns the places of the commits that it takes back, given those before it, in order.
    pub(crate) fn find_in(&self, commits: &[&MadeCommit<'_>]) -> std::ops::Range<usize> {
        let one = |at: Option<usize>| at.map_or(0..0, |at| at..at + 1);
        match &self.which {
            UndoneWhich::Last => one(commits.len().checked_sub(1)),
            UndoneWhich::Amended(branch, folder) => one(commits.iter().rposition(|commit| {
                let is_on = commit.branch.is_none() || branch.is_none() || commit.branch == *branch;
                is_on && is_same_repository(commit.folder.as_deref(), folder.as_deref())
            })),
            UndoneWhich::Reverted(subject) => {
                one(commits.iter().rposition(|commit| commit.subject == *subject))
            }
            UndoneWhich::After(target, back) | UndoneWhich::Squashed(target, back) => {
                let is_target = |hash: &str| hash.starts_with(*target) || target.starts_with(hash);
                let at = commits.iter().rposition(|commit| commit.hash.is_some_and(is_target));
                // An older commit than those: all but the last one may be older, too.
                let is_squash = matches!(self.which, UndoneWhich::Squashed(..));
                let last = commits.len().checked_sub(1).filter(|_| is_squash);
                let last = last.filter(|at| commits.get(*at).is_some_and(|one| one.hash.is_some()));
                at.map_or(one(last), |at| (at + 1).saturating_sub(*back)..commits.len())
            }
        }
    }

    /// Says it for the pages of longer periods, which know the commit itself.
    pub(crate) fn describe(&self) -> Option<String> {
        match &self.which {
            UndoneWhich::Last => Some("Undid the commit before".to_owned()),
            UndoneWhich::Amended(..) => Some("Amended the commit before".to_owned()),
            UndoneWhich::Reverted(subject) => Some(format!("{REVERTED}{subject}")),
            UndoneWhich::After(..) | UndoneWhich::Squashed(..) => None,
        }
    }
}

/// Whether two folders may belong to one repository: one is inside the other, or unknown.
fn is_same_repository(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    Path::new(one).starts_with(other) || Path::new(other).starts_with(one)
}

/// Before the subject of a reverted commit.
pub(crate) const REVERTED: &str = "Reverted: ";

/// Finds the commits that a tool call undid: `git reset HEAD~2`.
pub(crate) fn find_resets<'a>(at: usize, event: &Event, tool: &'a Tool) -> Vec<UndoneCommit<'a>> {
    let mut undone = Vec::new();
    let Some(line) = find_command_line(tool).filter(|line| line.contains("reset")) else {
        return undone;
    };
    if read_outcome(event, tool) != ToolOutcome::Exited(0) {
        return undone;
    }
    for stage in split_chain(line).iter().flat_map(|part| &part.stages) {
        let Some(words) = strip_wrappers(stage) else { continue };
        let Some((program, arguments)) = words.split_first() else { continue };
        if program.rsplit('/').next() != Some("git") || find_git_verb(arguments) != Some("reset") {
            continue;
        }
        let own = arguments.iter().position(|word| *word == "reset").unwrap_or_default();
        let arguments = arguments.get(own..).unwrap_or_default();
        // With paths, it only takes files out of the index.
        let mut paths = arguments.iter().filter(|word| !word.starts_with('-')).skip(2);
        if arguments.contains(&"--") || paths.next().is_some() {
            continue;
        }
        let back = arguments.iter().find_map(|word| parse_commits_back(word));
        let last = UndoneCommit { event: at, raw: stage, which: UndoneWhich::Last };
        undone.extend((0..back.unwrap_or(0).min(COMMITS_UNDONE_MAX)).map(|_| last.clone()));
        let target = arguments.iter().find_map(|word| parse_target(word));
        let is_soft = arguments.contains(&"--soft");
        let after = target.map(|(hash, back)| match is_soft {
            true => UndoneWhich::Squashed(hash, back),
            false => UndoneWhich::After(hash, back),
        });
        undone.extend(after.map(|which| UndoneCommit { which, ..last.clone() }));
    }
    undone
}

/// The number of commits between a revision and the current one: 2 for `HEAD~2` and `HEAD^^`.
fn parse_commits_back(revision: &str) -> Option<usize> {
    let rest = revision.strip_prefix("HEAD").or_else(|| revision.strip_prefix('@'))?;
    (!rest.is_empty()).then(|| count_back(rest))?
}

/// The number of commits of `~2` and `^^`.
fn count_back(suffix: &str) -> Option<usize> {
    match suffix.strip_prefix('~') {
        Some("") => Some(1),
        Some(count) => count.parse().ok(),
        None => suffix.chars().all(|c| c == '^').then_some(suffix.len()),
    }
}

/// The hash in `1a2b3c4` and `1a2b3c4^`, and how many commits before it.
fn parse_target(revision: &str) -> Option<(&str, usize)> {
    let end = revision.find(['^', '~']).unwrap_or(revision.len());
    let (hash, suffix) = revision.split_at_checked(end)?;
    let is_hash = hash.len() >= HASH_DIGITS_MIN
        && hash.chars().all(|c| c.is_ascii_hexdigit())
        && hash.contains(|c: char| c.is_ascii_digit());
    Some((hash, count_back(suffix)?)).filter(|_| is_hash)
}

/// Lists the commits that the tool calls of a session made and did not undo, in order: `subject (hash)`.
pub fn list_commits<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    let mut commits: Vec<MadeCommit<'a>> = Vec::new();
    let calls = events.into_iter().filter(|event| event.kind == EventKind::ToolResult);
    for (event, tool) in calls.filter_map(|event| Some((event, event.tool.as_ref()?))) {
        for undone in find_resets(0, event, tool) {
            drop_undone(&undone, &mut commits);
        }
        for commit in find_commits(0, event, tool) {
            if let Some(undone) = UndoneCommit::from_commit(&commit) {
                drop_undone(&undone, &mut commits);
            }
            commits.push(commit);
        }
    }
    commits.iter().map(MadeCommit::describe).collect()
}

fn drop_undone(undone: &UndoneCommit<'_>, commits: &mut Vec<MadeCommit<'_>>) {
    let range = undone.find_in(&commits.iter().collect::<Vec<_>>());
    commits.drain(range);
}
