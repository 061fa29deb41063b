//! The write in flight, in `writing.json` beside the history.
//!
//! A change is in the history before its files are renamed. If the process is killed in between, the
//! next look finds files that are not as the history says, and without this mark would take that for
//! an edit by somebody else. The mark is not synced: it has to survive the process, and after power
//! loss a missing mark costs nothing but the attribution. It is overwritten in place, padded to whole
//! blocks, so that the syncs of the history do not wait for it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Author, Who};

const FILE: &str = "writing.json";
/// A mark that is longer was not written here.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
const BLOCK_BYTES: usize = 4096;

/// A write that was begun and not finished.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    who: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    paths: BTreeSet<String>,
}

impl Pending {
    /// Whether the write was about to change this note.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The author of a note that was left as it was, or half changed.
    pub(crate) fn author(&self) -> Author {
        let who = match (self.who.as_str(), &self.agent) {
            ("agent", Some(agent)) => {
                Who::Agent { agent: agent.clone(), session: self.session.clone() }
            }
            ("person", _) => Who::Person,
            _ => Who::Outside,
        };
        Author { who, tool: "interrupted".to_owned() }
    }
}

/// Marks a write as begun. Failing to is no reason not to write.
pub(crate) fn begin<'p>(folder: &Path, by: &Author, paths: impl Iterator<Item = &'p str>) {
    let (who, agent, session) = match &by.who {
        Who::Agent { agent, session } => ("agent", Some(agent.clone()), session.clone()),
        Who::Person => ("person", None, None),
        Who::Outside => return,
    };
    let paths = paths.map(str::to_owned).collect();
    let pending = Pending { who: who.to_owned(), agent, session, paths };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(file(folder)).and_then(|mut file| {
        let mut text = serde_json::to_vec(&pending)?;
        text.resize(text.len().next_multiple_of(BLOCK_BYTES), b' ');
        file.write_all(&text)?;
        let len = text.len() as u64;
        if file.metadata()?.len() > len { file.set_len(len) } else { Ok(()) }
    });
}

/// The write was finished or undone.
pub(crate) fn end(folder: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(file(folder));
    let _ = file.and_then(|mut file| file.write_all(b"-"));
}

/// The write that a killed process has left.
pub(crate) fn read(folder: &Path) -> Option<Pending> {
    let path = file(folder);
    let found = std::fs::symlink_metadata(&path).ok()?;
    if !found.is_file() || found.len() > BYTES_MAX {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
