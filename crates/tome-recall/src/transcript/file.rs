//! The transcript file of one session.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::scan::{Scan, Stamp};
use super::session::Part;
use super::{Line, layout};
use tome_home::HomeError;
use tome_home::layout::MESSAGES;

#[derive(Debug, Default)]
pub(super) struct Copy {
    /// Content as of the last scan; `None` before the first one and after a failed write.
    scan: Option<(PathBuf, Scan)>,
}

impl Copy {
    /// Makes sure that the file holds what it should, and says what that is. Costs one look at the
    /// file's length and time if nobody else has written to it.
    pub(super) fn ready(&mut self, part: &Part<'_>) -> Result<&mut Scan, HomeError> {
        let path = part.folder.join(MESSAGES);
        let stamp = stamp_of(&path)?;
        let scan = match self.scan.take() {
            Some((_, scan)) if Some(scan.stamp) == stamp => scan,
            _ => look(part, &path)?,
        };
        Ok(&mut self.scan.insert((path, scan)).1)
    }

    /// Adds the lines of events that are not there yet, in one write, synced.
    pub(super) fn append(&mut self, part: &Part<'_>, lines: &[Line]) -> Result<(), HomeError> {
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
            let after = write(&path, &bytes).map_err(HomeError::file("write", &path))?;
            // Somebody else may have written at the same moment: then nobody knows which line is which.
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

/// Reads a session's file, which is made again if it lacks something.
fn look(part: &Part<'_>, path: &Path) -> Result<Scan, HomeError> {
    layout::ensure(&part.folder)?;
    let scan = Scan::read(path).map_err(HomeError::file("read", path))?;
    // A damaged ledger lacks events that the file may be the last to have.
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

/// The stamp of a file; none if it is not there.
fn stamp_of(path: &Path) -> Result<Option<Stamp>, HomeError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(Stamp::of(&meta))),
        Ok(_) => {
            let problem = std::io::Error::other("it is not a file: move it away");
            Err(HomeError::file("write", path)(problem))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HomeError::file("read", path)(error)),
    }
}
