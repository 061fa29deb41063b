//! Whether all lines of a history are there.
//!
//! Lines are numbered without gaps. A line that cannot be read, with a number missing after it, was
//! lost to damage; one without a missing number is a write that was torn before it was acknowledged.

use std::path::Path;

use super::{FILE, History};
use crate::Result;

/// Damaged places that are listed one by one.
const LISTED_MAX: usize = 20;

/// The damage of a history, found while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Integrity {
    /// Lines read so far.
    line: u64,
    /// The number of the last line that could be read.
    number: u64,
    /// The first line since then that could not, and whether the line was ended.
    unread: Option<(u64, bool)>,
    /// Numbers that are missing, by the line where they should be.
    lost: Vec<(u64, u64)>,
    lost_count: u64,
}

impl Integrity {
    /// Takes the next line: its number, if it could be read, and whether it has its end.
    pub(super) fn take(&mut self, number: Option<u64>, is_ended: bool) {
        self.line += 1;
        let Some(number) = number else {
            self.unread.get_or_insert((self.line, is_ended)).1 = is_ended;
            return;
        };
        let missing = number.saturating_sub(self.number + 1);
        if missing > 0 {
            let at = self.unread.map_or(self.line, |(line, _)| line);
            self.lost_count += missing;
            if self.lost.len() < LISTED_MAX {
                self.lost.push((at, missing));
            }
        }
        self.number = self.number.max(number);
        self.unread = None;
    }

    /// The damage, a line each.
    pub(super) fn findings(&self, folder: &Path) -> Vec<String> {
        let file = folder.join(FILE);
        let place = |line: u64| format!("{} line {line}", file.display());
        let mut findings: Vec<String> = self
            .lost
            .iter()
            .map(|(line, missing)| match missing {
                1 => format!("{}: a version is damaged or missing", place(*line)),
                missing => format!("{}: {missing} versions are damaged or missing", place(*line)),
            })
            .collect();
        // A torn line has no end before the next one is written.
        if let Some((line, true)) = self.unread {
            findings.push(format!("{}: a version is damaged", place(line)));
        }
        let listed: u64 = self.lost.iter().map(|(_, missing)| missing).sum();
        if self.lost_count > listed {
            findings.push(format!("{}: and {} more", file.display(), self.lost_count - listed));
        }
        findings
    }
}

/// Checks the history kept in a folder: whether versions are damaged or missing. Everything else in
/// it stays readable.
pub fn check_history(folder: &Path) -> Result<Vec<String>> {
    let mut history = History::of(folder);
    history.catch_up()?;
    Ok(history.damage())
}
