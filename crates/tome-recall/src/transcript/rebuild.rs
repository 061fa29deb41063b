//! Rebuilds transcripts from the ledger: an incomplete one, or all of them.
//!
//! The new file is written as `.messages.jsonl.new`, synced, and renamed over the old one. Foreign
//! lines keep their numbers; events fill the other lines in order of arrival. A complete file
//! therefore stays unchanged, and existing citations stay valid.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::PoisonError;

use tome_ledger::Ledger;
use tome_model::SessionId;

use super::scan::{ForeignLine, TranscriptScan};
use super::session::ProjectSession;
use super::{TRANSCRIPT_PROJECTION, Transcripts, encode_line, working_memory};
use tome_home::layout::{KEPT_MESSAGES, MESSAGES};
use tome_home::sync_folder;
use tome_home::{HomeError, catch_up_session_stats};

const STAGING_FILE: &str = ".messages.jsonl.new";

/// Result of rebuilding transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptsRebuilt {
    /// Number of files checked: one per session and project.
    pub files: u64,
    /// Number of files that had to be changed.
    pub changed: u64,
    /// Number of events in all of them.
    pub events: u64,
    /// Number of foreign lines, which were kept.
    pub foreign: u64,
}

pub(super) struct RebuiltTranscript {
    pub(super) scan: TranscriptScan,
    events: u64,
    is_changed: bool,
}

impl Transcripts {
    /// Rebuilds the transcripts of all sessions in a project, or in the whole ledger.
    pub fn rebuild(
        &self,
        ledger: &Ledger,
        project: Option<&str>,
    ) -> Result<TranscriptsRebuilt, HomeError> {
        let mut rebuilt = TranscriptsRebuilt::default();
        // There is one set of session statistics per session and project.
        catch_up_session_stats(ledger)?;
        for stats in ledger.all_session_stats()? {
            if project.is_none_or(|project| project == stats.project) {
                self.rebuild_session(ledger, &stats.project, &stats.session, &mut rebuilt)?;
            }
        }
        Ok(rebuilt)
    }

    fn rebuild_session(
        &self,
        ledger: &Ledger,
        project: &str,
        session: &SessionId,
        rebuilt: &mut TranscriptsRebuilt,
    ) -> Result<(), HomeError> {
        let project_session =
            self.project_session(ledger, project, session, ledger.cursor(TRANSCRIPT_PROJECTION)?)?;
        let transcript = self.cache.get(&project_session.folder);
        let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
        transcript.invalidate();
        working_memory::ensure(&project_session.folder)?;
        let path = project_session.folder.join(MESSAGES);
        let before = TranscriptScan::read(&path).map_err(HomeError::file("read", &path))?;
        let file = project_session.rebuild_file(&path, &before)?;
        rebuilt.files += 1;
        rebuilt.changed += u64::from(file.is_changed);
        rebuilt.events += file.events;
        rebuilt.foreign += file.scan.foreign.len() as u64;
        Ok(())
    }
}

impl ProjectSession<'_> {
    /// Rebuilds the file from the ledger and the foreign lines of the old file.
    pub(super) fn rebuild_file(
        &self,
        path: &Path,
        before: &TranscriptScan,
    ) -> Result<RebuiltTranscript, HomeError> {
        let making = self.folder.join(STAGING_FILE);
        let events = self.write_lines(path, before, &making)?;
        let failed = |action, path| HomeError::file(action, path);
        let is_changed = !has_same_content(path, &making).map_err(failed("read", &making))?;
        if is_changed && before.event_count() > events {
            // It has events that the ledger lacks: a repair of the ledger can restore them.
            let kept = self.folder.join(KEPT_MESSAGES);
            std::fs::rename(path, &kept).map_err(failed("rename", path))?;
        }
        if is_changed {
            std::fs::rename(&making, path).map_err(failed("write", path))?;
            sync_folder(&self.folder).map_err(failed("sync", &self.folder))?;
        } else {
            std::fs::remove_file(&making).map_err(failed("remove", &making))?;
        }
        let scan = TranscriptScan::read(path).map_err(failed("read", path))?;
        Ok(RebuiltTranscript { scan, events, is_changed })
    }

    fn write_lines(
        &self,
        old: &Path,
        before: &TranscriptScan,
        making: &Path,
    ) -> Result<u64, HomeError> {
        let failed = || HomeError::file("write", making);
        let mut out = BufWriter::new(File::create(making).map_err(failed())?);
        let mut foreign = before.foreign.iter().peekable();
        let (mut number, mut events) = (0, 0);
        for event in self.events()? {
            let event = event?;
            number += 1;
            while let Some(line) = foreign.next_if(|line| line.line <= number) {
                copy_foreign_line(old, before, line, &mut out).map_err(failed())?;
                number += 1;
            }
            out.write_all(&encode_line(&event)).map_err(failed())?;
            events += 1;
        }
        for line in foreign {
            copy_foreign_line(old, before, line, &mut out).map_err(failed())?;
        }
        let file = out.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.sync_data().map_err(failed())?;
        Ok(events)
    }
}

/// Copies a foreign line and terminates it.
fn copy_foreign_line(
    old: &Path,
    before: &TranscriptScan,
    line: &ForeignLine,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut file = File::open(old)?;
    file.seek(SeekFrom::Start(line.at))?;
    std::io::copy(&mut file.take(line.len), out)?;
    let is_unended = line.line == before.lines && !before.terminator.is_empty();
    out.write_all(if is_unended { before.terminator } else { b"\n" })
}

/// Returns whether two files have the same content; `false` if the first does not exist.
fn has_same_content(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (one, other) = match (File::open(one), File::open(other)) {
        (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        (one, other) => (one?, other?),
    };
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let hash = |file: File| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(BufReader::new(file)).map(|hasher| hasher.finalize())
    };
    Ok(hash(one)? == hash(other)?)
}
