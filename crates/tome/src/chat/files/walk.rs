//! A walk through the project: the upper folders first, names in order, what is ignored left out. Links
//! are not followed, and the walk has an end however large the folder is.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tome_llm::Stop;

use super::Root;
use super::ignored::Ignored;

/// Entries that are looked at in one walk, and how deep it goes.
const ENTRIES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 40;

/// What a walk goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    On,
    Enough,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walked {
    /// Everything was seen.
    Through,
    /// There is more than is looked at.
    Bounded,
    /// Whoever looked had enough, or the person stopped it.
    Ended,
}

/// Shows every ordinary file from a folder down, with its name below the root.
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
        // One more than is looked at, so that it is seen that there are more.
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

/// What the folders above say holds below them.
fn read_above(root: &Root, from: &Path, ignored: &mut Ignored) {
    let below = from.strip_prefix(root.path()).unwrap_or(Path::new(""));
    let mut folder = root.path().to_path_buf();
    for part in below.components() {
        ignored.read(&folder, &root.name(&folder));
        folder.push(part);
    }
}
