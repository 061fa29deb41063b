//! Which code base a folder belongs to, and what its folder in Tome's home is called.
//!
//! A project is the git root's main worktree, so that all worktrees and subfolders share it; a
//! folder outside git is a project of its own. A submodule is its own project.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tome_model::truncate_to;

use crate::git;
use crate::io_timeout::TimedCalls;

/// Where a folder belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The project's root.
    pub root: PathBuf,
    /// The top of the linked worktree that led there, if one did.
    pub worktree: Option<PathBuf>,
}

/// The longest folder name that is written out; file systems take 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// Finds the project of a folder; `None` when the folder does not exist (any more).
pub fn locate(cwd: &Path) -> Option<Located> {
    let cwd = cwd.canonicalize().ok().filter(|cwd| cwd.is_dir())?;
    Some(repository_of(&cwd).unwrap_or(Located { root: cwd, worktree: None }))
}

/// The repository that a folder which does not exist (any more) was in: that of the nearest folder
/// above it which does.
pub(crate) fn locate_missing(cwd: &Path) -> Option<Located> {
    let above = cwd.ancestors().skip(1).find_map(|above| above.canonicalize().ok())?;
    repository_of(&above).filter(|_| above.is_dir())
}

/// The repository around a folder.
fn repository_of(cwd: &Path) -> Option<Located> {
    for top in cwd.ancestors() {
        let dot_git = top.join(".git");
        if dot_git.join("HEAD").is_file() {
            return Some(Located { root: top.to_path_buf(), worktree: None });
        }
        if dot_git.is_file() {
            return Some(match git::main_worktree(top) {
                Some(root) => Located { root, worktree: Some(top.to_path_buf()) },
                None => Located { root: top.to_path_buf(), worktree: None },
            });
        }
    }
    None
}

/// Finds the project of a folder like [`locate`], but gives up on a folder that does not answer in
/// time: for callers with a deadline of their own.
pub fn locate_within(cwd: &Path, timeout: Duration) -> Option<Located> {
    let folder = cwd.to_path_buf();
    TimedCalls::default().run(&cwd.to_string_lossy(), timeout, move || locate(&folder)).flatten()
}

/// The name of a project's folder: the path without its first separator, separators and colons as
/// `-`, between `--` and `--`. Two paths can get the same name; `Projects` keeps them apart.
pub fn folder_name(root: &str) -> String {
    let trimmed = root.trim_end_matches(['/', '\\']);
    let inner = trimmed.strip_prefix(['/', '\\']).unwrap_or(trimmed);
    let inner: String =
        inner.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    if inner.len() + 4 <= NAME_BYTES_MAX {
        return format!("--{inner}--");
    }
    let kept = truncate_to(&inner, NAME_BYTES_MAX - 4 - 13);
    format!("--{kept}-{}--", fingerprint(root, 12))
}

/// The first digits of a hash of a path.
pub(crate) fn fingerprint(root: &str, digits: usize) -> String {
    blake3::hash(root.as_bytes()).to_hex().chars().take(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_path() {
        assert_eq!(folder_name("/Users/dev/project/ai"), "--Users-dev-project-ai--");
        assert_eq!(folder_name("/Users/dev/project/ai/"), "--Users-dev-project-ai--");
        assert_eq!(folder_name("C:\\code\\app"), "--C--code-app--");
        assert_eq!(folder_name("/"), "----");
        let long = format!("/{}", "ä".repeat(500));
        assert!(folder_name(&long).len() <= NAME_BYTES_MAX);
        assert_ne!(folder_name(&long), folder_name(&format!("{long}b")));
    }
}
