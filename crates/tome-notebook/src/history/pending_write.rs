//! The marker of a write in progress: `writing.json` beside the history.
//!
//! A change is in the history before its files are renamed. If the process is killed in between,
//! the files differ from the history, and without the marker that would be attributed to an outside
//! edit. The marker is not synced: it only has to survive the process, and after power loss a
//! missing marker costs just the attribution. It is overwritten in place, padded to whole blocks,
//! so that syncing the history does not wait for it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Actor, Author};

const MARKER_FILE: &str = "writing.json";
/// Larger files were not written by Tome.
const MARKER_BYTES_MAX: u64 = 64 * 1024 * 1024;
const BLOCK_BYTES: usize = 4096;

/// A write that was begun but not finished.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PendingWrite {
    who: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    paths: BTreeSet<String>,
}

impl PendingWrite {
    /// Whether the write was going to change this note.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The author to record for the notes of the interrupted write.
    pub(crate) fn author(&self) -> Author {
        let who = match (self.who.as_str(), &self.agent) {
            ("agent", Some(agent)) => {
                Actor::Agent { agent: agent.clone(), session: self.session.clone() }
            }
            ("person", _) => Actor::Person,
            _ => Actor::Outside,
        };
        Author { who, tool: "interrupted".to_owned() }
    }
}

/// Marks a write as begun. Best effort: the write goes ahead even if this fails.
pub(crate) fn write_marker<'p>(folder: &Path, by: &Author, paths: impl Iterator<Item = &'p str>) {
    let (who, agent, session) = match &by.who {
        Actor::Agent { agent, session } => ("agent", Some(agent.clone()), session.clone()),
        Actor::Person => ("person", None, None),
        Actor::Outside => return,
    };
    let paths = paths.map(str::to_owned).collect();
    let pending = PendingWrite { who: who.to_owned(), agent, session, paths };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(marker_path(folder)).and_then(|mut file| {
        let mut text = serde_json::to_vec(&pending)?;
        text.resize(text.len().next_multiple_of(BLOCK_BYTES), b' ');
        file.write_all(&text)?;
        let len = text.len() as u64;
        if file.metadata()?.len() > len { file.set_len(len) } else { Ok(()) }
    });
}

/// Clears the marker: the write was finished or undone.
pub(crate) fn clear_marker(folder: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(marker_path(folder));
    let _ = file.and_then(|mut file| file.write_all(b"-"));
}

/// Reads the marker that a killed process has left.
pub(crate) fn read_marker(folder: &Path) -> Option<PendingWrite> {
    let path = marker_path(folder);
    let found = std::fs::symlink_metadata(&path).ok()?;
    if !found.is_file() || found.len() > MARKER_BYTES_MAX {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn marker_path(folder: &Path) -> PathBuf {
    folder.join(MARKER_FILE)
}
