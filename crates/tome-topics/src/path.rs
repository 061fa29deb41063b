//! Paths relative to the repository, and the names that a file had.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::Millis;

use crate::limits::RENAMES_MAX;
use crate::record::SegmentRecord;

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

/// Renames of files and folders, in order of time.
#[derive(Debug, Clone, Default)]
pub struct Renames {
    moves: Vec<(Millis, String, String)>,
    /// Paths that were touched by name after they had been renamed away.
    used: BTreeMap<String, Millis>,
}

impl Renames {
    pub(crate) fn collect(segments: &[SegmentRecord]) -> Self {
        let mut moves: BTreeSet<(Millis, String, String)> = BTreeSet::new();
        let mut used: BTreeMap<String, Millis> = BTreeMap::new();
        for turn in segments.iter().flat_map(|segment| &segment.turns) {
            for one in &turn.moves {
                moves.insert((one.at, one.from.clone(), one.to.clone()));
            }
            for file in &turn.files {
                let last = used.entry(file.path.clone()).or_insert(turn.at);
                *last = turn.at.max(*last);
            }
        }
        Self { moves: moves.into_iter().collect(), used }
    }

    /// The name that a file has today, given one that it had.
    pub fn newest_name(&self, path: &str) -> String {
        let mut name = path.to_owned();
        let mut since = Millis(0);
        for _ in 0..RENAMES_MAX {
            let next = self.moves.iter().find_map(|(at, from, to)| {
                (*at >= since).then(|| apply_rename(&name, from, to).map(|to| (*at, to)))?
            });
            let Some((at, to)) = next else { break };
            // A file of the old name that was touched later is another one.
            if to == name || self.used.get(&name).is_some_and(|last| *last > at) {
                break;
            }
            (since, name) = (at, to);
        }
        name
    }

    /// All names of a file, the newest first, each with the time from which it was no longer used.
    pub(crate) fn all_names(&self, newest: &str) -> Vec<(String, Option<Millis>)> {
        let mut names = vec![(newest.to_owned(), None)];
        let mut until = None;
        while names.len() < RENAMES_MAX {
            let Some((name, _)) = names.last().cloned() else { break };
            let before = self.moves.iter().rev().find_map(|(at, from, to)| {
                (until.is_none_or(|until| *at < until))
                    .then(|| apply_rename(&name, to, from).map(|from| (*at, from)))?
            });
            let Some((at, from)) = before else { break };
            if names.iter().any(|(known, _)| *known == from) {
                break;
            }
            until = Some(at);
            names.push((from, until));
        }
        names
    }
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

    #[test]
    fn names_of_a_file_are_followed() {
        let moves = [(1, "a.rs", "b.rs"), (2, "b.rs", "src/b.rs"), (3, "src", "lib")];
        let moves = moves.map(|(at, from, to)| (Millis(at), from.to_owned(), to.to_owned()));
        let renames = Renames { moves: moves.to_vec(), used: BTreeMap::new() };
        assert_eq!(renames.newest_name("a.rs"), "lib/b.rs");
        assert_eq!(renames.newest_name("src/c.rs"), "lib/c.rs");
        assert_eq!(renames.newest_name("other.rs"), "other.rs");
        let names: Vec<String> =
            renames.all_names("lib/b.rs").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["lib/b.rs", "src/b.rs", "b.rs", "a.rs"]);
    }

    #[test]
    fn a_cycle_of_renames_ends() {
        let moves = [(1, "a", "b"), (2, "b", "a"), (3, "a", "b")];
        let moves = moves.map(|(at, from, to)| (Millis(at), from.to_owned(), to.to_owned()));
        let renames = Renames { moves: moves.to_vec(), used: BTreeMap::new() };
        assert_eq!(renames.newest_name("a"), "b");
        assert_eq!(renames.all_names("b").len(), 2);
    }
}
