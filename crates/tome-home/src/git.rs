//! Reads the few git files that determine which project a folder belongs to, and which branch and
//! commit it is on.
//!
//! The author of a folder also controls its `.git`, so a linked worktree counts as part of a
//! repository only if that repository lists it. Otherwise any folder could claim to be any project
//! and would receive its memory.

use std::path::{Path, PathBuf};

use tome_model::Millis;

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

/// The branch and commit that a folder is on, and the linked worktree that it belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitLocation {
    /// The branch; `None` for a detached head.
    pub branch: Option<String>,
    /// The commit; `None` before the first one.
    pub commit: Option<String>,
    /// The top folder of the linked worktree; `None` in the main one.
    pub worktree: Option<PathBuf>,
}

impl GitLocation {
    /// Reads the location of a folder from the repository's files, without starting git. `None`
    /// outside a repository.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let top = find_top(folder)?;
        let head = read_head(&top);
        let worktree = find_main_worktree(&top).map(|_| top);
        (head.is_some() || worktree.is_some())
            .then(|| Self { worktree, ..head.unwrap_or_default() })
    }
}

/// A linked worktree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// Its top folder.
    pub top: PathBuf,
    /// Since when it has been at this path.
    pub since: Millis,
}

/// Finds the linked worktree that a folder is in. Git writes the pointer in its record when it adds
/// or moves the worktree.
pub(crate) fn find_linked_worktree(folder: &Path) -> Option<LinkedWorktree> {
    let top = find_top(folder)?;
    find_main_worktree(&top)?;
    let pointer = read_pointer(&top.join(".git"))?;
    let git_dir = top.join(pointer.strip_prefix("gitdir:")?.trim());
    let written = std::fs::metadata(git_dir.join("gitdir")).ok()?.modified().ok()?;
    let since = written.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
    Some(LinkedWorktree { top, since: Millis(u64::try_from(since).ok()?) })
}

/// Returns the top folder of the worktree that a folder is in, as a canonical path.
fn find_top(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|top| top.join(".git").exists()).map(Path::to_path_buf)
}

/// `packed-refs` of a repository with ten thousand branches has about a megabyte.
const PACKED_REFS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Reads the branch and commit of a worktree from its files.
fn read_head(top: &Path) -> Option<GitLocation> {
    let dot_git = top.join(".git");
    let git_dir = match read_pointer(&dot_git) {
        Some(pointer) => top.join(pointer.strip_prefix("gitdir:")?.trim()),
        None => dot_git,
    };
    let head = read_pointer(&git_dir.join("HEAD"))?;
    let Some(reference) = head.strip_prefix("ref: ").map(str::trim) else {
        let detached = GitLocation { commit: Some(head.clone()), ..GitLocation::default() };
        return is_commit_id(&head).then_some(detached);
    };
    let common = read_pointer(&git_dir.join("commondir"));
    let common = common.map_or_else(|| git_dir.clone(), |pointer| git_dir.join(pointer));
    let branch = reference.strip_prefix("refs/heads/").filter(|name| is_branch_name(name))?;
    let commit = read_reference(&common, reference);
    Some(GitLocation { branch: Some(branch.to_owned()), commit, worktree: None })
}

/// The commit of a reference, from its own file or from `packed-refs`.
fn read_reference(git_dir: &Path, reference: &str) -> Option<String> {
    if let Some(commit) = read_pointer(&git_dir.join(reference)).filter(|text| is_commit_id(text)) {
        return Some(commit);
    }
    let packed = git_dir.join("packed-refs");
    let text = read_regular_text(&packed, FinalLink::Refuse, PACKED_REFS_BYTES_MAX).ok()?;
    text.lines().find_map(|line| {
        let (commit, name) = line.split_once(' ')?;
        (name == reference && is_commit_id(commit)).then(|| commit.to_owned())
    })
}

fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Names that git allows; they are also safe to join to a path.
fn is_branch_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'))
        && !name.contains(|c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '\\'))
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

    fn write(path: &Path, text: &str) {
        crate::durable::write_atomic(path, text.as_bytes()).unwrap();
    }

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_head_is_read_from_loose_packed_and_detached_references() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("refs/heads/fix")).unwrap();
        assert_eq!(read_head(folder.path()), None);
        write(&git.join("HEAD"), "ref: refs/heads/fix/lexer\n");
        let on = |commit: Option<&str>| {
            let (branch, commit) = (Some("fix/lexer".to_owned()), commit.map(str::to_owned));
            Some(GitLocation { branch, commit, worktree: None })
        };
        assert_eq!(read_head(folder.path()), on(None));
        write(&git.join("packed-refs"), &format!("# pack\n{COMMIT} refs/heads/fix/lexer\n"));
        assert_eq!(read_head(folder.path()), on(Some(COMMIT)));
        let newer = COMMIT.replace('0', "f");
        write(&git.join("refs/heads/fix/lexer"), &format!("{newer}\n"));
        assert_eq!(read_head(folder.path()), on(Some(&newer)));
        write(&git.join("HEAD"), COMMIT);
        let detached = GitLocation { commit: Some(COMMIT.to_owned()), ..GitLocation::default() };
        assert_eq!(read_head(folder.path()), Some(detached));
        write(&git.join("HEAD"), "ref: refs/heads/../../etc\n");
        assert_eq!(read_head(folder.path()), None);
    }

    #[test]
    fn a_linked_worktree_has_a_head_and_a_location_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (main, linked) = (root.join("main"), root.join("linked"));
        let record = main.join(".git/worktrees/linked");
        for folder in ["refs/heads", "objects"] {
            std::fs::create_dir_all(main.join(".git").join(folder)).unwrap();
        }
        std::fs::create_dir_all(&record).unwrap();
        std::fs::create_dir_all(linked.join("src")).unwrap();
        write(&main.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(&linked.join(".git"), &format!("gitdir: {}\n", record.display()));
        write(&record.join("commondir"), "../..\n");
        write(&record.join("HEAD"), "ref: refs/heads/side\n");
        write(&main.join(".git/refs/heads/side"), COMMIT);
        let (branch, commit) = (Some("side".to_owned()), Some(COMMIT.to_owned()));
        let head = GitLocation { branch, commit, worktree: None };
        // The repository does not list it yet.
        assert_eq!(GitLocation::read(&linked.join("src")), Some(head.clone()));
        write(&record.join("gitdir"), &format!("{}\n", linked.join(".git").display()));
        let found = GitLocation { worktree: Some(linked.clone()), ..head };
        assert_eq!(GitLocation::read(&linked.join("src")), Some(found));
        assert_eq!(GitLocation::read(&main).unwrap().worktree, None);
        assert_eq!(find_linked_worktree(&linked.join("src")).unwrap().top, linked);
        assert_eq!(find_linked_worktree(&main), None);
    }

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
