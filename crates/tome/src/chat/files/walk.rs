//! Walks the project's files breadth-first, in order of name, without ignored files. Links are not
//! followed, and the walk is bounded.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tome_llm::Stop;

use super::Root;
use super::ignored::Ignored;

/// Limits on entries and depth.
const ENTRIES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    On,
    Enough,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walked {
    Through,
    /// A limit was reached.
    Bounded,
    /// The callback or the user stopped it.
    Ended,
}

/// Calls `found` with every regular file below a folder and its name relative to the root.
pub fn walk(
    root: &Root,
    from: &Path,
    stop: &Stop,
    mut found: impl FnMut(&Path, &str) -> Going,
) -> Walked {
    let mut ignored = Ignored::default();
    read_above(root, from, &mut ignored);
    let mut folders: VecDeque<(PathBuf, usize)> = VecDeque::from([(from.to_path_buf(), 0)]);
    let (mut entries, mut walked) = (0, Walked::Through);
    while let Some((folder, depth)) = folders.pop_front() {
        ignored.read(&folder, &root.name(&folder));
        let Ok(listed) = std::fs::read_dir(&folder) else { continue };
        // Read one extra entry to detect truncation.
        let mut listed: Vec<_> = listed.flatten().take(ENTRIES_MAX + 1).collect();
        listed.sort_by_key(std::fs::DirEntry::file_name);
        for entry in listed {
            entries += 1;
            if stop.is_stopped() {
                return Walked::Ended;
            }
            if entries > ENTRIES_MAX {
                return Walked::Bounded;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let name = root.name(&path);
            if ignored.has(&name, kind.is_dir()) || root.is_hidden(&path) {
                continue;
            }
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push_back((path, depth + 1));
            } else if kind.is_dir() {
                walked = Walked::Bounded;
            } else if kind.is_file() && found(&path, &name) == Going::Enough {
                return Walked::Ended;
            }
        }
    }
    walked
}

/// Adds the rules of the folders above, which also apply below.
fn read_above(root: &Root, from: &Path, ignored: &mut Ignored) {
    let below = from.strip_prefix(root.path()).unwrap_or(Path::new(""));
    let mut folder = root.path().to_path_buf();
    for part in below.components() {
        ignored.read(&folder, &root.name(&folder));
        folder.push(part);
    }
}
