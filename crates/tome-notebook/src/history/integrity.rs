//! Detects missing and damaged lines of a history.
//!
//! Lines are numbered without gaps. An unreadable line followed by a gap in the numbers was
//! damaged; one without a gap is a write that was torn before it was acknowledged.

use std::path::Path;

use super::{HISTORY_FILE, History};
use crate::Result;

/// Damaged places to list individually.
const LISTED_MAX: usize = 20;

/// Damage found while reading a history.
#[derive(Debug, Clone, Default)]
pub(super) struct HistoryIntegrity {
    line: u64,
    /// Number of the last readable line.
    number: u64,
    /// The first unreadable line since then, and whether the last one ends with a line break.
    unread: Option<(u64, bool)>,
    /// Missing numbers: the line where they belong, and how many.
    lost: Vec<(u64, u64)>,
    lost_count: u64,
}

impl HistoryIntegrity {
    /// Accounts for the next line: its number, if readable, and whether it ends with a line break.
    pub(super) fn check_line(&mut self, number: Option<u64>, is_ended: bool) {
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

    /// Describes the damage, one entry per place.
    pub(super) fn describe_damage(&self, folder: &Path) -> Vec<String> {
        let file = folder.join(HISTORY_FILE);
        let location = |line: u64| format!("{} line {line}", file.display());
        let mut findings: Vec<String> = self
            .lost
            .iter()
            .map(|(line, missing)| match missing {
                1 => format!("{}: a version is damaged or missing", location(*line)),
                missing => {
                    format!("{}: {missing} versions are damaged or missing", location(*line))
                }
            })
            .collect();
        // A torn last line has no line break until the next append.
        if let Some((line, true)) = self.unread {
            findings.push(format!("{}: a version is damaged", location(line)));
        }
        let listed: u64 = self.lost.iter().map(|(_, missing)| missing).sum();
        if self.lost_count > listed {
            findings.push(format!("{}: and {} more", file.display(), self.lost_count - listed));
        }
        findings
    }
}

/// Checks a history folder for damaged or missing versions. All other versions stay readable.
pub fn check_history(folder: &Path) -> Result<Vec<String>> {
    let mut history = History::new(folder);
    history.catch_up()?;
    Ok(history.list_damage())
}
