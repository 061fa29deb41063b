//! Determines the project of a folder and the name of the project's folder in the home.
//!
//! A project is the main worktree of a git repository, shared by all its worktrees and subfolders.
//! A submodule is its own project, and so is a folder outside git.

use std::path::{Path, PathBuf};

use tome_model::truncate_to;

use crate::git;

/// The project that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectLocation {
    /// The project's root.
    pub root: PathBuf,
    /// The top of the linked worktree that contains the folder, if any.
    pub worktree: Option<PathBuf>,
}

/// The longest folder name that is not hashed; file systems allow 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// Finds the project of a folder; `None` if the folder does not exist.
pub fn locate_project(cwd: &Path) -> Option<ProjectLocation> {
    let cwd = cwd.canonicalize().ok().filter(|cwd| cwd.is_dir())?;
    Some(find_repository(&cwd).unwrap_or(ProjectLocation { root: cwd, worktree: None }))
}

/// Finds the repository of a folder that no longer exists, starting at its nearest existing
/// ancestor.
pub(crate) fn locate_missing_folder(cwd: &Path) -> Option<ProjectLocation> {
    let above = cwd.ancestors().skip(1).find_map(|above| above.canonicalize().ok())?;
    find_repository(&above).filter(|_| above.is_dir())
}

fn find_repository(cwd: &Path) -> Option<ProjectLocation> {
    for top in cwd.ancestors() {
        let dot_git = top.join(".git");
        if dot_git.join("HEAD").is_file() {
            return Some(ProjectLocation { root: top.to_path_buf(), worktree: None });
        }
        if dot_git.is_file() {
            return Some(match git::find_main_worktree(top) {
                Some(root) => ProjectLocation { root, worktree: Some(top.to_path_buf()) },
                None => ProjectLocation { root: top.to_path_buf(), worktree: None },
            });
        }
    }
    None
}

/// Returns the folder name of a project: the path without its first separator, separators and
/// colons as `-`, between `--` and `--`. Two paths can get the same name; `Projects` resolves the
/// collision.
pub fn project_folder_name(root: &str) -> String {
    let trimmed = root.trim_end_matches(['/', '\\']);
    let inner = trimmed.strip_prefix(['/', '\\']).unwrap_or(trimmed);
    let inner: String =
        inner.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    if inner.len() + 4 <= NAME_BYTES_MAX {
        return format!("--{inner}--");
    }
    let kept = truncate_to(&inner, NAME_BYTES_MAX - 4 - 13);
    format!("--{kept}-{}--", path_hash(root, 12))
}

/// Returns the first digits of a hash of a path.
pub(crate) fn path_hash(root: &str, digits: usize) -> String {
    blake3::hash(root.as_bytes()).to_hex().chars().take(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_after_its_path() {
        assert_eq!(project_folder_name("/Users/dev/project/ai"), "--Users-dev-project-ai--");
        assert_eq!(project_folder_name("/Users/dev/project/ai/"), "--Users-dev-project-ai--");
        assert_eq!(project_folder_name("C:\\code\\app"), "--C--code-app--");
        assert_eq!(project_folder_name("/"), "----");
        let long = format!("/{}", "ä".repeat(500));
        assert!(project_folder_name(&long).len() <= NAME_BYTES_MAX);
        assert_ne!(project_folder_name(&long), project_folder_name(&format!("{long}b")));
    }
}
