//! Which code base a folder belongs to, and what its folder in Tome's home is called.
//!
//! A project is the git root's main worktree, so that all worktrees and subfolders share it; a
//! folder outside git is a project of its own. A submodule is its own project.

use std::path::{Path, PathBuf};

use tome_model::truncate_to;

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
            return Some(match main_worktree(top, &dot_git) {
                Some(root) => Located { root, worktree: Some(top.to_path_buf()) },
                None => Located { root: top.to_path_buf(), worktree: None },
            });
        }
    }
    None
}

/// The main worktree that a linked one belongs to: its `.git` file names a git directory whose
/// `commondir` names the shared one. `None` for a submodule or a separate git directory.
fn main_worktree(top: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(dot_git).ok()?;
    let git_dir = top.join(text.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(git_dir.join("commondir")).ok()?;
    let common = git_dir.join(common.trim()).canonicalize().ok()?;
    if common.file_name().is_some_and(|name| name == ".git") {
        common.parent().map(Path::to_path_buf)
    } else {
        // The worktrees of a bare repository share the repository itself.
        Some(common)
    }
}

/// The origin of a project's repository, without credentials.
pub(crate) fn remote(root: &Path) -> Option<String> {
    let config = [root.join(".git/config"), root.join("config")];
    let text = config.iter().find_map(|path| std::fs::read_to_string(path).ok())?;
    let mut in_origin = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line == "[remote \"origin\"]";
        } else if in_origin
            && let Some((name, url)) = line.split_once('=')
            && name.trim() == "url"
        {
            return Some(without_credentials(url.trim()));
        }
    }
    None
}

fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('/') {
            Some((host, path)) => {
                let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
                format!("{scheme}://{host}/{path}")
            }
            None => format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host)),
        },
        None => url.to_owned(),
    }
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

    #[test]
    fn a_remote_is_kept_without_its_credentials() {
        assert_eq!(
            without_credentials("https://me:secret@example.com/a.git"),
            "https://example.com/a.git"
        );
        assert_eq!(without_credentials("git@example.com:a/b.git"), "git@example.com:a/b.git");
        assert_eq!(without_credentials("https://t0ken@example.com"), "https://example.com");
    }
}
