//! The log of injections: text, time, reason, size and whether it was delivered. One JSON line
//! each, in the project's folder:
//!
//! ```text
//! <project's folder>/injections.jsonl       the latest
//! <project's folder>/injections.old.jsonl   those before them, as the file was when it was full
//! ```
//!
//! Each file holds about `FILE_BYTES_MAX`. The log is for people and not a source of truth: writes
//! are not synced, and a damaged line is skipped and reported with its file and number.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tome_model::Millis;

use tome_home::{Damage, HomeError, Projects};

/// Beyond this size the file is rotated, replacing the older one.
const FILE_BYTES_MAX: u64 = 512 * 1024;

/// Damaged lines reported by number.
const LISTED_MAX: usize = 20;

/// An injection, as a line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectionRecord {
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Injection point: `start`, `prompt`, `edit`, `tool`, `subagent`, `stop`, `compaction`.
    #[serde(rename = "moment")]
    pub point: String,
    /// Reason: `startup`, `resume`, `hints`, `decision`, `subagent`, `replan`, `store`, `overview`.
    pub why: String,
    /// Name of the agent that received it.
    pub agent: String,
    /// Id of the session that received it.
    pub session_id: String,
    /// The project's root.
    pub project: String,
    /// Estimated tokens.
    pub tokens: u64,
    /// Pieces left out or cut to fit the budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Time it took to build.
    pub took_ms: u64,
    /// Whether it was ready before the hook's deadline.
    pub handed: bool,
    /// The injected text.
    pub text: String,
}

/// The injection logs of all projects.
pub(super) struct InjectionLog {
    projects: Arc<Projects>,
    writing: Mutex<()>,
}

impl InjectionLog {
    pub(super) fn new(projects: Arc<Projects>) -> Self {
        Self { projects, writing: Mutex::default() }
    }

    pub(super) fn append(&self, record: &InjectionRecord) -> Result<(), HomeError> {
        let folder = self.projects.ensure_folder(&record.project, Millis(record.at_ms))?;
        let path = current_path(&folder);
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let add = || -> std::io::Result<()> {
            if path.metadata().is_ok_and(|meta| meta.len() > FILE_BYTES_MAX) {
                std::fs::rename(&path, rotated_path(&folder))?;
            }
            let mut file = OpenOptions::new().append(true).read(true).create(true).open(&path)?;
            let mut line = Vec::new();
            if lacks_newline(&mut file)? {
                // Terminate a partial line, so that it does not damage this one.
                line.push(b'\n');
            }
            serde_json::to_writer(&mut line, record)?;
            line.push(b'\n');
            file.write_all(&line)
        };
        add().map_err(HomeError::file("write", &path))
    }

    /// Returns the latest `limit` records, oldest first, filtered by project and session.
    pub(super) fn list(
        &self,
        project: Option<&str>,
        session: Option<&str>,
        limit: usize,
    ) -> Vec<InjectionRecord> {
        let mut all = Vec::new();
        for (root, folder) in self.projects.all() {
            if project.is_none_or(|project| project == root) {
                all.extend(read_records(&rotated_path(&folder)));
                all.extend(read_records(&current_path(&folder)));
            }
        }
        all.retain(|one| session.is_none_or(|session| one.session_id == session));
        all.sort_by_key(|one| one.at_ms);
        all.drain(..all.len().saturating_sub(limit));
        all
    }
}

/// Only people read this log.
const REMEDY: &str =
    "its other lines are not affected, and it is replaced as it grows: nothing to do";

fn current_path(folder: &Path) -> PathBuf {
    folder.join("injections.jsonl")
}

fn rotated_path(folder: &Path) -> PathBuf {
    folder.join("injections.old.jsonl")
}

/// Damaged or torn lines in the injection logs of all projects, by file and line number.
pub fn damage_of_injections(projects: &Projects) -> Vec<Damage> {
    let folders = projects.all().into_iter().map(|(_, folder)| folder);
    folders.flat_map(|folder| damaged_lines(&folder)).map(|one| Damage::new(one, REMEDY)).collect()
}

/// The lines of the records in a project's folder that are damaged or torn, by file and number.
fn damaged_lines(folder: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for path in [rotated_path(folder), current_path(folder)] {
        let damaged = (1..).zip(parse_lines(&path)).filter(|(_, line)| line.is_err());
        let numbers: Vec<String> =
            damaged.map(|(number, _): (u64, _)| number.to_string()).collect();
        if !numbers.is_empty() {
            let (count, path) = (numbers.len(), path.display());
            let listed: Vec<String> = numbers.into_iter().take(LISTED_MAX).collect();
            findings.push(format!("{path}: {count} damaged, line {}", listed.join(", ")));
        }
    }
    findings
}

fn read_records(path: &Path) -> Vec<InjectionRecord> {
    parse_lines(path).into_iter().flatten().collect()
}

/// Parses all lines of a file.
fn parse_lines(path: &Path) -> Vec<serde_json::Result<InjectionRecord>> {
    let mut text = Vec::new();
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    // A file longer than this was not written here.
    if file.take(4 * FILE_BYTES_MAX).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    if text.is_empty() {
        return Vec::new();
    }
    text.split(|byte| *byte == b'\n').map(serde_json::from_slice).collect()
}

/// Whether the last line lacks its newline.
fn lacks_newline(file: &mut std::fs::File) -> std::io::Result<bool> {
    let mut last = [0];
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tome_home::Home;

    fn record(n: u64, project: &str) -> InjectionRecord {
        InjectionRecord {
            at_ms: 1_794_735_000_000 + n,
            point: "start".to_owned(),
            why: "startup".to_owned(),
            agent: "codex".to_owned(),
            session_id: format!("s{}", n % 2),
            project: project.to_owned(),
            tokens: n,
            cut: Vec::new(),
            took_ms: 3,
            handed: true,
            text: "x".repeat(9_000),
        }
    }

    #[test]
    fn the_log_keeps_the_latest_injections_within_a_bound() {
        let home = tempfile::tempdir().unwrap();
        let home = Home::at(home.path());
        let records = InjectionLog::new(Arc::new(Projects::load(&home)));
        for n in 0..300 {
            records.append(&record(n, "/app")).unwrap();
        }
        records.append(&record(300, "/other")).unwrap();
        let all = records.list(None, None, 1_000);
        assert!(all.len() > 50 && all.len() < 200, "{}", all.len());
        assert_eq!(all.last().unwrap().project, "/other");
        let folder = records.projects.find_folder("/app").unwrap();
        let bytes = |path: PathBuf| path.metadata().unwrap().len();
        assert!(
            bytes(current_path(&folder)) + bytes(rotated_path(&folder))
                < 2 * FILE_BYTES_MAX + 20_000
        );
        let some = records.list(Some("/app"), Some("s1"), 2);
        let tokens: Vec<u64> = some.iter().map(|one| one.tokens).collect();
        assert_eq!(tokens, [297, 299]);
    }

    #[test]
    fn only_a_torn_line_is_skipped() {
        let home = tempfile::tempdir().unwrap();
        let home = Home::at(home.path());
        let records = InjectionLog::new(Arc::new(Projects::load(&home)));
        records.append(&record(1, "/app")).unwrap();
        let path = current_path(&records.projects.find_folder("/app").unwrap());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"at_ms\":\n").unwrap();
        records.append(&record(2, "/app")).unwrap();
        assert_eq!(records.list(None, None, 9).len(), 2);
    }
}
