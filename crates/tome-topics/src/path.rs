//! Paths relative to the repository, and the names that a file had.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tome_model::{FileAction, Millis};

use crate::limits::RENAMES_MAX;
use crate::record::{Moment, SegmentRecord, TurnRecord};

/// Folders that hold worktrees of the same repository.
const WORKTREES: [&str; 3] = [".claude/worktrees/", ".worktrees/", "worktrees/"];

/// Returns a path relative to the repository, as `src/lexer.rs`. `None` if it lies outside, or is
/// no path. `cwd` is the working directory of the agent, which may be another worktree.
pub fn resolve_repository_path(path: &str, cwd: &str, root: &str) -> Option<String> {
    if path.trim().is_empty() || path.chars().any(char::is_control) {
        return None;
    }
    let forward = |text: &str| text.replace('\\', "/");
    let (path, cwd, root) = (forward(path), forward(cwd), forward(root));
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
    let full = match is_absolute {
        true => resolve_dots(&path)?,
        false if path.starts_with('~') => return None,
        false => resolve_dots(&format!("{}/{path}", cwd.trim_end_matches('/')))?,
    };
    let below = |folder: &str| {
        let folder = resolve_dots(folder).filter(|folder| folder.len() > 1)?;
        let rest = full.strip_prefix(&folder)?.strip_prefix('/')?;
        (!rest.is_empty()).then(|| rest.to_owned())
    };
    let inside = below(&root).or_else(|| below(&cwd))?;
    let own = WORKTREES.iter().find_map(|folder| {
        inside.strip_prefix(folder)?.split_once('/').map(|(_, rest)| rest.to_owned())
    });
    Some(own.unwrap_or(inside)).filter(|path| !path.is_empty() && !path.starts_with(".git/"))
}

/// Resolves `.` and `..`; `None` if the path leads above its beginning.
fn resolve_dots(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    Some(format!("{start}{}", parts.join("/")))
}

/// The last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The folder of a path, with a `/` at its end; `None` at the top.
pub(crate) fn folder_of(path: &str) -> Option<&str> {
    let base = base_name(path);
    path.trim_end_matches('/').strip_suffix(base).filter(|folder| !folder.is_empty())
}

/// A file or folder that was renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rename {
    pub(crate) moment: Moment,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The segment that did it.
    pub(crate) segment: String,
}

/// Renames of files and folders. A path names the file that had it at a time: after a rename, a file
/// that is written under the old name is another one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renames {
    /// In order of time.
    moves: Vec<Rename>,
    by_from: BTreeMap<String, Vec<usize>>,
    by_to: BTreeMap<String, Vec<usize>>,
    /// Renames that seem to have been taken back: whether they were depends on later changes.
    undone: Vec<Rename>,
}

impl Renames {
    pub(crate) fn collect(segments: &[Arc<SegmentRecord>]) -> Self {
        let mut moves: BTreeMap<(Millis, String, String), (u64, String)> = BTreeMap::new();
        for segment in segments {
            for one in segment.turns.iter().flat_map(|turn| &turn.moves) {
                let trim = |path: &str| path.trim_end_matches('/').to_owned();
                let key = (one.at, trim(&one.from), trim(&one.to));
                let found = (one.number, segment.id.as_str().to_owned());
                let known = moves.entry(key).or_insert_with(|| found.clone());
                *known = found.min(known.clone());
            }
        }
        let moves = moves.into_iter().map(|((at, from, to), (number, segment))| Rename {
            moment: (at, number),
            from,
            to,
            segment,
        });
        let renames = Self::from_moves(moves.collect());
        if renames.moves.is_empty() {
            return renames;
        }
        let uses = renames.collect_uses(segments);
        let (undone, kept): (Vec<Rename>, Vec<Rename>) =
            renames.moves.into_iter().partition(|one| is_undone(one, &uses));
        Self { undone, ..Self::from_moves(kept) }
    }

    fn from_moves(mut moves: Vec<Rename>) -> Self {
        moves.sort_by(|a, b| (a.moment, &a.from, &a.to).cmp(&(b.moment, &b.from, &b.to)));
        let mut renames = Self { moves, ..Self::default() };
        for (index, one) in renames.moves.iter().enumerate() {
            renames.by_from.entry(one.from.clone()).or_default().push(index);
            renames.by_to.entry(one.to.clone()).or_default().push(index);
        }
        renames
    }

    /// Changes of paths that were renamed, or that something was renamed to.
    fn collect_uses(&self, segments: &[Arc<SegmentRecord>]) -> Uses {
        let mut uses = Uses::new();
        for turn in segments.iter().flat_map(|segment| &segment.turns) {
            for file in turn.files.iter().filter(|file| self.is_end(&file.path)) {
                if file.action != FileAction::Read {
                    let moment = turn.moment_of(file);
                    uses.entry(file.path.clone()).or_default().push((moment, file.action));
                }
            }
        }
        uses
    }

    /// Whether a rename begins or ends at this very path.
    pub(crate) fn is_end(&self, path: &str) -> bool {
        self.by_from.contains_key(path)
            || self.by_to.contains_key(path)
            || self.undone.iter().any(|one| one.from == path || one.to == path)
    }

    /// Whether a file may be another one than at a time: it was renamed away and seems to be back.
    pub(crate) fn is_doubtful(&self, path: &str, since: Millis) -> bool {
        self.undone.iter().any(|one| one.from == path && one.moment.0 >= since)
    }

    /// The name that the file has today that had this one at a moment.
    pub(crate) fn name_after(&self, path: &str, moment: Moment) -> String {
        let mut name = path.to_owned();
        let mut since = moment;
        for _ in 0..RENAMES_MAX {
            let Some((next, to)) = self.next_move(&name, since) else { break };
            since = next.moment;
            if to == name {
                break;
            }
            name = to;
        }
        name
    }

    /// The names that the files have today that a turn changed.
    pub(crate) fn changed_names(&self, turn: &TurnRecord) -> impl Iterator<Item = String> {
        turn.changed_files().map(|file| self.name_after(&file.path, turn.moment_of(file)))
    }

    /// The names that the files have today that a segment changed, with repetitions.
    pub(crate) fn names_changed_by(&self, segment: &SegmentRecord) -> impl Iterator<Item = String> {
        let turns = segment.turns.iter().filter(|turn| turn.is_focused());
        turns.flat_map(|turn| self.changed_names(turn))
    }

    /// The names of today of the files that once had a name, those that lost it last first.
    pub(crate) fn later_names(&self, former: &str) -> Vec<String> {
        let indexes = paths_above(former).filter_map(|path| self.by_from.get(path)).flatten();
        let indexes: BTreeSet<usize> = indexes.copied().collect();
        let moves = indexes.into_iter().rev().take(RENAMES_MAX);
        let moves = moves.filter_map(|index| self.moves.get(index));
        let before = |(at, _): Moment| (Millis(at.0.saturating_sub(1)), u64::MAX);
        moves.map(|one| self.name_after(former, before(one.moment))).collect()
    }

    /// The renames that gave a file its name of today, the latest first, each with the name before it.
    pub(crate) fn lineage(&self, newest: &str) -> Vec<(&Rename, String)> {
        let mut lineage: Vec<(&Rename, String)> = Vec::new();
        let (mut name, mut until) = (newest.to_owned(), None);
        while lineage.len() < RENAMES_MAX {
            let away = self.last_move(&self.by_from, &name, until);
            let Some(here) = self.last_move(&self.by_to, &name, until) else { break };
            // What had this name before it was renamed away was another file.
            if away.is_some_and(|away| away.moment > here.moment) {
                break;
            }
            let Some(former) = apply_rename(&name, &here.to, &here.from) else { break };
            if former == newest || lineage.iter().any(|(_, known)| *known == former) {
                break;
            }
            until = Some(here.moment);
            lineage.push((here, former.clone()));
            name = former;
        }
        lineage
    }

    fn next_move(&self, name: &str, since: Moment) -> Option<(&Rename, String)> {
        let after = |path: &str| {
            let indexes = self.by_from.get(path)?;
            let moves = indexes.iter().filter_map(|index| self.moves.get(*index));
            moves.into_iter().find(|one| one.moment > since)
        };
        let next = paths_above(name).filter_map(after).min_by_key(|one| one.moment)?;
        Some((next, apply_rename(name, &next.from, &next.to)?))
    }

    fn last_move(
        &self,
        ends: &BTreeMap<String, Vec<usize>>,
        name: &str,
        until: Option<Moment>,
    ) -> Option<&Rename> {
        let before = |path: &str| {
            let indexes = ends.get(path)?;
            let mut moves = indexes.iter().rev().filter_map(|index| self.moves.get(*index));
            moves.find(|one| until.is_none_or(|until| one.moment < until))
        };
        paths_above(name).filter_map(before).max_by_key(|one| one.moment)
    }
}

/// Changes by path.
type Uses = BTreeMap<String, Vec<(Moment, FileAction)>>;

/// Whether a rename was taken back outside of any session, or happened on another branch only: the
/// old file was edited later although no session created it again, and the new one was not used.
fn is_undone(one: &Rename, uses: &Uses) -> bool {
    let later = |path: &str| {
        let uses = uses.get(path).into_iter().flatten();
        uses.filter(|(moment, _)| *moment > one.moment).map(|(_, action)| *action)
    };
    let is_edited = later(&one.from).any(|action| action == FileAction::Changed);
    is_edited
        && !later(&one.from).any(|action| action == FileAction::Created)
        && later(&one.to).next().is_none()
}

/// A path and the folders above it, the longest first.
fn paths_above(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0))
        .filter(|path| !path.is_empty())
}

/// The new name of a path after a rename of it or of a folder above it.
fn apply_rename(path: &str, from: &str, to: &str) -> Option<String> {
    if path == from {
        return Some(to.to_owned());
    }
    let rest = path.strip_prefix(from.trim_end_matches('/'))?.strip_prefix('/')?;
    Some(format!("{}/{rest}", to.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_repository() {
        let relative = |path: &str| resolve_repository_path(path, "/home/a/app/web", "/home/a/app");
        assert_eq!(relative("/home/a/app/src/x.rs").as_deref(), Some("src/x.rs"));
        assert_eq!(relative("x.ts").as_deref(), Some("web/x.ts"));
        assert_eq!(relative("../src/./x.rs").as_deref(), Some("src/x.rs"));
        assert_eq!(relative("/home/a/app/.worktrees/fix/src/x.rs").as_deref(), Some("src/x.rs"));
        assert_eq!(relative("/home/a/app/.claude/worktrees/a/b.rs").as_deref(), Some("b.rs"));
        for outside in [
            "/tmp/x.rs",
            "~/x.rs",
            "../../../x",
            "",
            "/home/a/application/x.rs",
            "a\0b",
            "../.git/x",
        ] {
            assert_eq!(relative(outside), None, "{outside}");
        }
        let other = resolve_repository_path("/wt/fix/src/x.rs", "/wt/fix", "/home/a/app");
        assert_eq!(other.as_deref(), Some("src/x.rs"));
        let windows = resolve_repository_path("C:\\app\\src\\x.rs", "C:\\app", "C:\\app");
        assert_eq!(windows.as_deref(), Some("src/x.rs"));
    }

    fn renames(moves: &[(u64, &str, &str)]) -> Renames {
        let moves = moves.iter().map(|(at, from, to)| Rename {
            moment: (Millis(*at), 0),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            segment: String::new(),
        });
        Renames::from_moves(moves.collect())
    }

    fn former_names(renames: &Renames, name: &str) -> Vec<String> {
        renames.lineage(name).into_iter().map(|(_, former)| former).collect()
    }

    #[test]
    fn names_of_a_file_are_followed() {
        let renames = renames(&[(1, "a.rs", "b.rs"), (2, "b.rs", "src/b.rs"), (3, "src", "lib")]);
        assert_eq!(renames.later_names("a.rs"), ["lib/b.rs"]);
        assert_eq!(renames.later_names("src/c.rs"), ["lib/c.rs"]);
        assert_eq!(renames.later_names("other.rs"), [""; 0]);
        assert_eq!(former_names(&renames, "lib/b.rs"), ["src/b.rs", "b.rs", "a.rs"]);
    }

    #[test]
    fn a_name_belongs_to_another_file_after_a_rename() {
        let renames = renames(&[(2, "a.rs", "b.rs"), (5, "a.rs", "c.rs")]);
        let after = |at: u64| renames.name_after("a.rs", (Millis(at), 0));
        assert_eq!((after(1), after(3), after(6)), ("b.rs".into(), "c.rs".into(), "a.rs".into()));
        assert_eq!(former_names(&renames, "b.rs"), ["a.rs"]);
        assert_eq!(former_names(&renames, "c.rs"), ["a.rs"]);
        assert_eq!(former_names(&renames, "a.rs"), [""; 0]);
    }

    #[test]
    fn a_cycle_of_renames_ends() {
        let renames = renames(&[(1, "a", "b"), (2, "b", "a"), (3, "a", "b")]);
        assert_eq!(renames.later_names("a"), ["b", "b"]);
        assert_eq!(former_names(&renames, "b"), ["a"]);
    }
}
