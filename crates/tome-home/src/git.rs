//! Reads the few git files that determine which project a folder belongs to.
//!
//! The author of a folder also controls its `.git`, so a linked worktree counts as part of a
//! repository only if that repository lists it. Otherwise any folder could claim to be any project
//! and would receive its memory.

use std::path::{Path, PathBuf};

use crate::regular_file::{FinalLink, read_regular_text};

/// Size limit of files that hold one path; paths have at most 4,096 bytes on Linux.
const POINTER_BYTES_MAX: u64 = 16 * 1024;

/// Larger git configs are not read.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the main worktree of the repository that lists `top` as a linked worktree, or the
/// repository itself if it is bare. `None` for a submodule, a separate git directory, or a folder
/// that only claims to be a worktree. `top` must be canonical.
///
/// ```text
/// <top>/.git                                  "gitdir: <repository>/worktrees/<name>"
/// <repository>/worktrees/<name>/commondir     "../.."
/// <repository>/worktrees/<name>/gitdir        "<top>/.git"
/// ```
pub(crate) fn find_main_worktree(top: &Path) -> Option<PathBuf> {
    let pointer = read_pointer(&top.join(".git"))?;
    let git_dir = top.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = git_dir.join(read_pointer(&git_dir.join("commondir"))?).canonicalize().ok()?;
    // Trust the back-pointer only where only the repository's owner can have written it.
    let is_listed = git_dir.parent().is_some_and(|parent| parent == common.join("worktrees"))
        && is_git_dir(&common)
        && is_listed_worktree(&git_dir, top);
    if !is_listed {
        return None;
    }
    if common.file_name().is_some_and(|name| name == ".git") {
        common.parent().map(Path::to_path_buf)
    } else {
        // The worktrees of a bare repository share the repository itself.
        Some(common)
    }
}

/// Whether the repository's record of a worktree points to `top`. Its path is absolute, or relative
/// to the record (`worktree.useRelativePaths`).
fn is_listed_worktree(git_dir: &Path, top: &Path) -> bool {
    let Some(pointer) = read_pointer(&git_dir.join("gitdir")) else { return false };
    let dot_git = git_dir.join(pointer);
    let is_dot_git = dot_git.file_name().is_some_and(|name| name == ".git");
    let worktree = dot_git.parent().and_then(|worktree| worktree.canonicalize().ok());
    is_dot_git && worktree.is_some_and(|worktree| worktree == top)
}

/// Whether a folder has the entries that git requires of a git directory.
fn is_git_dir(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// Returns the URL of the repository's origin, without credentials.
pub(crate) fn read_origin_url(root: &Path) -> Option<String> {
    let git_dir = match root.join(".git") {
        dot_git if dot_git.join("HEAD").is_file() => dot_git,
        // A bare repository. In any other folder `config` belongs to the project.
        _ => Some(root.to_path_buf()).filter(|root| is_git_dir(root))?,
    };
    let config = git_dir.join("config");
    let text = read_regular_text(&config, FinalLink::Refuse, CONFIG_BYTES_MAX).ok()?;
    let mut in_origin = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line == "[remote \"origin\"]";
        } else if in_origin
            && let Some((name, url)) = line.split_once('=')
            && name.trim() == "url"
        {
            return Some(strip_credentials(url.trim()));
        }
    }
    None
}

fn read_pointer(path: &Path) -> Option<String> {
    let text = read_regular_text(path, FinalLink::Refuse, POINTER_BYTES_MAX).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn strip_credentials(url: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_is_kept_without_its_credentials() {
        assert_eq!(
            strip_credentials("https://me:secret@example.com/a.git"),
            "https://example.com/a.git"
        );
        assert_eq!(strip_credentials("git@example.com:a/b.git"), "git@example.com:a/b.git");
        assert_eq!(strip_credentials("https://t0ken@example.com"), "https://example.com");
    }
}
