//! The transcript file of one session.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::scan::{TranscriptScan, TranscriptStamp};
use super::session::ProjectSession;
use super::{EncodedLine, working_memory};
use tome_home::HomeError;
use tome_home::layout::MESSAGES;

#[derive(Debug, Default)]
pub(super) struct TranscriptFile {
    /// Content as of the last scan; `None` before the first one and after a failed write.
    scan: Option<(PathBuf, TranscriptScan)>,
}

impl TranscriptFile {
    /// Returns the current content, rebuilding the file if it is incomplete. If nothing else has
    /// written to the file, this only checks its length and time.
    pub(super) fn refresh(
        &mut self,
        project_session: &ProjectSession<'_>,
    ) -> Result<&mut TranscriptScan, HomeError> {
        let path = project_session.folder.join(MESSAGES);
        let stamp = read_stamp(&path)?;
        let scan = match self.scan.take() {
            Some((_, scan)) if Some(scan.stamp) == stamp => scan,
            _ => scan_or_rebuild(project_session, &path)?,
        };
        Ok(&mut self.scan.insert((path, scan)).1)
    }

    /// Appends the lines of events that are not in the file yet, with one synced write.
    pub(super) fn append_lines(
        &mut self,
        project_session: &ProjectSession<'_>,
        lines: &[EncodedLine],
    ) -> Result<(), HomeError> {
        self.refresh(project_session)?;
        // After any failure the file has to be scanned again.
        let Some((path, mut scan)) = self.scan.take() else { return Ok(()) };
        if project_session.ledger.damage().is_empty() && has_gap(lines, &scan) {
            // Power loss removed a line before a later one; rebuild in order of arrival.
            scan = project_session.rebuild_file(&path, &scan)?.scan;
        }
        let new: Vec<&EncodedLine> =
            lines.iter().filter(|(id, _)| scan.find_line(id).is_none()).collect();
        if !new.is_empty() {
            let mut bytes = scan.terminator.to_vec();
            for (id, line) in new {
                bytes.extend_from_slice(line);
                scan.record_event(id);
            }
            let after = append_synced(&path, &bytes).map_err(HomeError::file("write", &path))?;
            // Another writer may have appended at the same time, so line numbers are unknown.
            let is_alone = after.len == scan.stamp.len + bytes.len() as u64;
            (scan.stamp, scan.terminator) = (after, b"");
            if !is_alone {
                return Ok(());
            }
        }
        self.scan = Some((path, scan));
        Ok(())
    }

    /// Drops the cached content, so that the file is scanned again.
    pub(super) fn invalidate(&mut self) {
        self.scan = None;
    }

    /// Number of entries in memory.
    pub(super) fn entry_count(&self) -> usize {
        self.scan.as_ref().map_or(0, |(_, scan)| scan.entry_count())
    }
}

/// Scans a session's file, rebuilding it if lines are missing.
fn scan_or_rebuild(
    project_session: &ProjectSession<'_>,
    path: &Path,
) -> Result<TranscriptScan, HomeError> {
    working_memory::ensure(&project_session.folder)?;
    let scan = TranscriptScan::read(path).map_err(HomeError::file("read", path))?;
    // Do not rebuild from a damaged ledger: the file may have the only copy of an event.
    let is_damaged = !project_session.ledger.damage().is_empty();
    if !is_damaged && project_session.lacks_lines(&scan)? {
        Ok(project_session.rebuild_file(path, &scan)?.scan)
    } else {
        Ok(scan)
    }
}

/// Returns whether a line is missing before one that exists.
fn has_gap(lines: &[EncodedLine], scan: &TranscriptScan) -> bool {
    let mut there = lines.iter().map(|(id, _)| scan.find_line(id).is_some());
    there.any(|is_there| !is_there) && there.any(|is_there| is_there)
}

fn append_synced(path: &Path, bytes: &[u8]) -> std::io::Result<TranscriptStamp> {
    let mut file: File = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(TranscriptStamp::from_metadata(&file.metadata()?))
}

/// Reads the stamp of a file; `None` if it does not exist.
fn read_stamp(path: &Path) -> Result<Option<TranscriptStamp>, HomeError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(TranscriptStamp::from_metadata(&meta))),
        Ok(_) => {
            let problem = std::io::Error::other("not a regular file: move it away");
            Err(HomeError::file("write", path)(problem))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HomeError::file("read", path)(error)),
    }
}
