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
        let mut transcripts = self.transcripts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = transcripts.iter().rposition(|(known, _)| known == folder);
        let (folder, transcript) = match known {
            Some(at) => transcripts.remove(at),
            None => (folder.to_path_buf(), SharedTranscript::default()),
        };
        evict(&mut transcripts);
        transcripts.push((folder, Arc::clone(&transcript)));
        transcript
    }
}

/// Evicts the least recently used transcripts. One in use stays, because two instances would write
/// to the same file.
fn evict(transcripts: &mut Vec<(PathBuf, SharedTranscript)>) {
    let weight = |transcript: &SharedTranscript| {
        transcript.try_lock().map_or(0, |transcript| transcript.entry_count())
    };
    let mut lines: usize = transcripts.iter().map(|(_, transcript)| weight(transcript)).sum();
    let mut sessions = transcripts.len();
    transcripts.retain(|(_, transcript)| {
        let goes =
            (sessions >= SESSIONS_MAX || lines > LINES_MAX) && Arc::strong_count(transcript) == 1;
        if goes {
            sessions -= 1;
            lines -= weight(transcript);
        }
        !goes
    });
}
