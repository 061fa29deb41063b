//! The periods in which nothing is recorded, in `pauses.jsonl`: a line when a pause begins, and one when
//! it ends early.
//!
//! ```json
//! {"v":1,"at":1794735000000,"until":1794738600000}
//! {"v":1,"at":1794736000000,"resume":true}
//! ```
//!
//! A pause without `until` lasts until it is ended. Past pauses are kept, because an agent's transcript
//! still holds what was said then, and an import must not bring it in.

use std::io::Write;

use serde::{Deserialize, Serialize};
use tome_model::Millis;

use crate::{FinalLink, Home, HomeError, read_regular_text, sync_folder};

/// A larger file was not written by Tome.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const VERSION: u32 = 1;

/// The periods in which nothing is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pauses {
    periods: Vec<Pause>,
}

/// One period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When it began.
    pub from: Millis,
    /// When it ends; `None` if it lasts until it is ended.
    pub until: Option<Millis>,
}

impl Pause {
    /// Whether it covers a time.
    pub fn contains(&self, at: Millis) -> bool {
        at >= self.from && self.until.is_none_or(|until| at < until)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct PauseLine {
    v: u32,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    resume: bool,
}

impl Pauses {
    /// Reads the periods of a home. Torn lines are skipped.
    pub fn read(home: &Home) -> Self {
        let text = read_regular_text(&home.pauses(), FinalLink::Follow, FILE_BYTES_MAX);
        let mut pauses = Self::default();
        for line in text.unwrap_or_default().lines() {
            if let Ok(line) = serde_json::from_str::<PauseLine>(line)
                && line.v == VERSION
            {
                pauses.add_line(&line);
            }
        }
        pauses
    }

    fn add_line(&mut self, line: &PauseLine) {
        let at = Millis(line.at);
        if let Some(last) = self.periods.last_mut()
            && last.contains(at)
        {
            last.until = Some(at);
        }
        if !line.resume {
            self.periods.push(Pause { from: at, until: line.until.map(Millis) });
        }
    }

    /// The period that covers a time.
    pub fn find(&self, at: Millis) -> Option<Pause> {
        self.periods.iter().rev().find(|pause| pause.contains(at)).copied()
    }

    /// Begins a pause now, in place of one that lasts.
    pub fn begin(home: &Home, now: Millis, until: Option<Millis>) -> Result<(), HomeError> {
        let until = until.map(|until| until.0);
        append_pause_line(home, &PauseLine { v: VERSION, at: now.0, until, resume: false })
    }

    /// Ends the pause that lasts now. Returns whether there was one.
    pub fn end(home: &Home, now: Millis) -> Result<bool, HomeError> {
        if Self::read(home).find(now).is_none() {
            return Ok(false);
        }
        append_pause_line(home, &PauseLine { v: VERSION, at: now.0, until: None, resume: true })?;
        Ok(true)
    }
}

/// Appends a line and syncs it.
fn append_pause_line(home: &Home, line: &PauseLine) -> Result<(), HomeError> {
    let path = home.pauses();
    let failed = HomeError::file("write", &path);
    let write = || {
        std::fs::create_dir_all(home.root())?;
        let text = serde_json::to_string(line)?;
        let mut file = std::fs::File::options().create(true).append(true).open(&path)?;
        // A line that was torn by a full disk must not swallow this one.
        let is_torn = std::fs::read(&path)?.last().is_some_and(|last| *last != b'\n');
        file.write_all(format!("{}{text}\n", if is_torn { "\n" } else { "" }).as_bytes())?;
        file.sync_all()?;
        sync_folder(home.root())
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_by_itself_or_early_and_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        assert_eq!(Pauses::read(&home).find(Millis(5)), None);
        assert!(!Pauses::end(&home, Millis(5)).unwrap());
        Pauses::begin(&home, Millis(10), Some(Millis(20))).unwrap();
        Pauses::begin(&home, Millis(30), None).unwrap();
        assert!(Pauses::end(&home, Millis(40)).unwrap());
        Pauses::begin(&home, Millis(50), Some(Millis(90))).unwrap();
        Pauses::begin(&home, Millis(60), Some(Millis(70))).unwrap();
        let pauses = Pauses::read(&home);
        let paused = |at| pauses.find(Millis(at)).is_some();
        assert_eq!(
            [9, 10, 19, 20, 35, 40, 55, 65, 75].map(paused),
            [false, true, true, false, true, false, true, true, false]
        );
    }
}
