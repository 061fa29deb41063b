//! The sessions whose files are known, of which a few are kept in memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::Copy;

/// Sessions that are kept, about, and the lines of all of them together: a line takes some 40 bytes.
/// One that is not kept is read again when it is touched.
const SESSIONS_MAX: usize = 1_024;
const LINES_MAX: usize = 100_000;

/// The sessions whose files are known.
#[derive(Default)]
pub(super) struct Kept {
    /// The one used last comes last.
    copies: Mutex<Vec<(PathBuf, Shared)>>,
}

type Shared = Arc<Mutex<Copy>>;

impl Kept {
    /// The copy in a session's folder. Whoever works on it locks it.
    pub(super) fn of(&self, folder: &Path) -> Shared {
        // What is kept only saves time: a panic elsewhere leaves nothing wrong in it.
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let known = copies.iter().rposition(|(known, _)| known == folder);
        let (folder, copy) = match known {
            Some(at) => copies.remove(at),
            None => (folder.to_path_buf(), Shared::default()),
        };
        drop_surplus(&mut copies);
        copies.push((folder, Arc::clone(&copy)));
        copy
    }
}

/// Lets go of those used longest ago. One that somebody is working on stays: were there two of it,
/// both would write to one file.
fn drop_surplus(copies: &mut Vec<(PathBuf, Shared)>) {
    let weight = |copy: &Shared| copy.try_lock().map_or(0, |copy| copy.weight());
    let mut lines: usize = copies.iter().map(|(_, copy)| weight(copy)).sum();
    let mut sessions = copies.len();
    copies.retain(|(_, copy)| {
        let goes = (sessions >= SESSIONS_MAX || lines > LINES_MAX) && Arc::strong_count(copy) == 1;
        if goes {
            sessions -= 1;
            lines -= weight(copy);
        }
        !goes
    });
}
