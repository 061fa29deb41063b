//! Walks the project's files breadth-first, in order of name, without ignored files. Links are not
//! followed, and the walk is bounded.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tome_llm::CancelToken;

use super::ProjectRoot;
use super::gitignore::IgnoreRules;

/// Limits on entries and depth.
const ENTRIES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkControl {
    Continue,
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    Complete,
    /// A limit was reached.
    LimitReached,
    /// The callback or the user stopped it.
    Stopped,
}

/// Calls `visit` with every regular file below a folder and its name relative to the root.
pub fn walk_files(
    root: &ProjectRoot,
    from: &Path,
    stop: &CancelToken,
    mut visit: impl FnMut(&Path, &str) -> WalkControl,
) -> WalkEnd {
    let mut ignored = IgnoreRules::default();
    add_parent_rules(root, from, &mut ignored);
    let mut folders: VecDeque<(PathBuf, usize)> = VecDeque::from([(from.to_path_buf(), 0)]);
    let (mut entries, mut walked) = (0, WalkEnd::Complete);
    while let Some((folder, depth)) = folders.pop_front() {
        ignored.add_gitignore(&folder, &root.relative_name(&folder));
        let Ok(listed) = std::fs::read_dir(&folder) else { continue };
        // Read one extra entry to detect truncation.
        let mut listed: Vec<_> = listed.flatten().take(ENTRIES_MAX + 1).collect();
        listed.sort_by_key(std::fs::DirEntry::file_name);
        for entry in listed {
            entries += 1;
            if stop.is_cancelled() {
                return WalkEnd::Stopped;
            }
            if entries > ENTRIES_MAX {
                return WalkEnd::LimitReached;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let name = root.relative_name(&path);
            if ignored.is_ignored(&name, kind.is_dir()) || root.is_hidden(&path) {
                continue;
            }
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push_back((path, depth + 1));
            } else if kind.is_dir() {
                walked = WalkEnd::LimitReached;
            } else if kind.is_file() && visit(&path, &name) == WalkControl::Stop {
                return WalkEnd::Stopped;
            }
        }
    }
    walked
}

/// Adds the rules of the folders above, which also apply below.
fn add_parent_rules(root: &ProjectRoot, from: &Path, ignored: &mut IgnoreRules) {
    let below = from.strip_prefix(root.path()).unwrap_or(Path::new(""));
    let mut folder = root.path().to_path_buf();
    for part in below.components() {
        ignored.add_gitignore(&folder, &root.relative_name(&folder));
        folder.push(part);
    }
}
