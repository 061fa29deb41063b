//! The transcript file of one session.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::scan::{Scan, Stamp};
use super::session::Part;
use super::{Line, MESSAGES, layout};
use crate::EngineError;

#[derive(Debug, Default)]
pub(super) struct Copy {
    /// Content as of the last scan; `None` before the first one and after a failed write.
    scan: Option<(PathBuf, Scan)>,
}

impl Copy {
    /// Returns the current content, rebuilding the file if it is incomplete. If nothing else has
    /// written to the file, this only checks its length and time.
    pub(super) fn ready(&mut self, part: &Part<'_>) -> Result<&mut Scan, EngineError> {
        let path = part.folder.join(MESSAGES);
        let stamp = stamp_of(&path)?;
        let scan = match self.scan.take() {
            Some((_, scan)) if Some(scan.stamp) == stamp => scan,
            _ => look(part, &path)?,
        };
        Ok(&mut self.scan.insert((path, scan)).1)
    }

    /// Appends the lines of events that are not in the file yet, with one synced write.
    pub(super) fn append(&mut self, part: &Part<'_>, lines: &[Line]) -> Result<(), EngineError> {
        self.ready(part)?;
        // After any failure the file has to be scanned again.
        let Some((path, mut scan)) = self.scan.take() else { return Ok(()) };
        if part.ledger.damage().is_empty() && has_gap(lines, &scan) {
            // Power loss removed a line before a later one; rebuild in order of arrival.
            scan = part.make_again(&path, &scan)?.scan;
        }
        let new: Vec<&Line> = lines.iter().filter(|(id, _)| scan.line_of(id).is_none()).collect();
        if !new.is_empty() {
            let mut bytes = scan.ending.to_vec();
            for (id, line) in new {
                bytes.extend_from_slice(line);
                scan.added(id);
            }
            let after = write(&path, &bytes).map_err(EngineError::file("write", &path))?;
            // Another writer may have appended at the same time, so line numbers are unknown.
            let is_alone = after.len == scan.stamp.len + bytes.len() as u64;
            (scan.stamp, scan.ending) = (after, b"");
            if !is_alone {
                return Ok(());
            }
        }
        self.scan = Some((path, scan));
        Ok(())
    }

    /// Drops the cached content, so that the file is scanned again.
    pub(super) fn forget(&mut self) {
        self.scan = None;
    }

    /// Number of entries in memory.
    pub(super) fn weight(&self) -> usize {
        self.scan.as_ref().map_or(0, |(_, scan)| scan.weight())
    }
}

/// Scans a session's file, rebuilding it if lines are missing.
fn look(part: &Part<'_>, path: &Path) -> Result<Scan, EngineError> {
    layout::ensure(&part.folder)?;
    let scan = Scan::read(path).map_err(EngineError::file("read", path))?;
    // Do not rebuild from a damaged ledger: the file may have the only copy of an event.
    let is_damaged = !part.ledger.damage().is_empty();
    match !is_damaged && part.lacks_lines(&scan)? {
        true => Ok(part.make_again(path, &scan)?.scan),
        false => Ok(scan),
    }
}

/// Returns whether a line is missing before one that exists.
fn has_gap(lines: &[Line], scan: &Scan) -> bool {
    let mut there = lines.iter().map(|(id, _)| scan.line_of(id).is_some());
    there.any(|is_there| !is_there) && there.any(|is_there| is_there)
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<Stamp> {
    let mut file: File = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(Stamp::of(&file.metadata()?))
}

/// Reads the stamp of a file; `None` if it does not exist.
fn stamp_of(path: &Path) -> Result<Option<Stamp>, EngineError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(Stamp::of(&meta))),
        Ok(_) => {
            let problem = std::io::Error::other("not a regular file: move it away");
            Err(EngineError::file("write", path)(problem))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EngineError::file("read", path)(error)),
    }
}
