//! An LRU cache of scanned transcript files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::TranscriptFile;

/// Approximate limits on cached sessions, and on the lines of all of them; a line takes about 40
/// bytes. Others are scanned again when needed.
const SESSIONS_MAX: usize = 1_024;
const LINES_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct TranscriptCache {
    /// Most recently used last.
    transcripts: Mutex<Vec<(PathBuf, SharedTranscript)>>,
}

type SharedTranscript = Arc<Mutex<TranscriptFile>>;

impl TranscriptCache {
    /// Returns the transcript in a session's folder. The caller locks it while working on it.
    pub(super) fn get(&self, folder: &Path) -> SharedTranscript {
        // This is only a cache, so a panic elsewhere leaves nothing inconsistent.
        let mut copies = self.transcripts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = copies.iter().rposition(|(known, _)| known == folder);
        let (folder, copy) = match known {
            Some(at) => copies.remove(at),
            None => (folder.to_path_buf(), SharedTranscript::default()),
        };
        evict(&mut copies);
        copies.push((folder, Arc::clone(&copy)));
        copy
    }
}

/// Evicts the least recently used transcripts. One in use stays, because two instances would write
/// to the same file.
fn evict(copies: &mut Vec<(PathBuf, SharedTranscript)>) {
    let weight = |copy: &SharedTranscript| copy.try_lock().map_or(0, |copy| copy.entry_count());
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
