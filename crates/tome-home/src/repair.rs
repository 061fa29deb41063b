//! Finds damage in a home and repairs damaged stores.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tome_ledger::{LedgerError, RepairReport};
use tome_model::{Event, SessionStats};

use crate::{
    Damage, Home, HomeError, Projects, SESSION_STATS_PROJECTION, Store, StoreMode, Stores, layout,
};

const REPAIR_ADVICE: &str = "`tome admin repair` rebuilds it from everything that can still be read and from the \
                      sessions' messages.jsonl; then `tome import` brings in what only the agents have";

const HISTORY_ADVICE: &str = "those earlier versions cannot be restored; the notes and all other versions are \
                       not affected";

/// How long a repair waits for those who are using the store.
const REPAIR_WAIT: Duration = Duration::from_secs(30);

/// Longer transcript lines are skipped: an event has at most 16 MiB, twice that as JSON.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Total bytes of note histories that a quick check reads.
const QUICK_HISTORY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How much of the files a check reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Skips note histories beyond 64 MiB in total: somebody waits for a status.
    Quick,
    /// Reads everything.
    Full,
}

impl Damage {
    /// Returns the damage that an open store has met so far.
    pub fn find_in_store(store: &Store) -> Vec<Self> {
        let path = store.path().display();
        store
            .damage()
            .into_iter()
            .map(|one| Self::new(format!("{path}: {one}"), REPAIR_ADVICE))
            .collect()
    }

    /// Returns the damage of a store that failed to open, or `None` if it failed for another
    /// reason.
    pub fn from_open_error(path: &Path, error: &HomeError) -> Option<Self> {
        let is_damage = match error {
            HomeError::Ledger(error) => matches!(
                error,
                LedgerError::Storage { .. }
                    | LedgerError::DamagedFile { .. }
                    | LedgerError::Corrupt { .. }
            ),
            _ => false,
        };
        let found =
            || Self::new(format!("{}: {}", path.display(), error.explained()), REPAIR_ADVICE);
        is_damage.then(found)
    }

    /// Reports events of another project in a project's store: someone has moved folders.
    pub fn find_foreign_events(
        path: &Path,
        root: &str,
        all_stats: &[SessionStats],
    ) -> Option<Self> {
        let foreign = all_stats.iter().find(|stats| stats.project != root)?;
        Some(Self::new(
            format!("{} holds events of {}, not only of {root}", path.display(), foreign.project),
            "if folders under projects/ were moved or exchanged, put them back",
        ))
    }

    /// Finds damaged files other than stores: project files, note histories, injection logs.
    pub fn find_in_files(home: &Home, projects: &Projects, depth: CheckDepth) -> Vec<Self> {
        let mut damage = projects.find_damage();
        let folders: Vec<PathBuf> = projects.all().into_iter().map(|(_, folder)| folder).collect();
        let mut histories: Vec<PathBuf> =
            folders.iter().map(|folder| layout::history_dir(folder)).collect();
        histories.push(home.coder().join(".history"));
        let mut left = match depth {
            CheckDepth::Quick => QUICK_HISTORY_BYTES_MAX,
            CheckDepth::Full => u64::MAX,
        };
        for history in histories {
            let size = history.join("history.jsonl").metadata().map_or(0, |meta| meta.len());
            let Some(rest) = left.checked_sub(size) else { continue };
            left = rest;
            match tome_notebook::check_history(&history) {
                Ok(findings) => {
                    damage.extend(findings.into_iter().map(|one| Self::new(one, HISTORY_ADVICE)));
                }
                Err(error) => damage.push(Self::new(error.to_string(), "make it readable")),
            }
        }
        damage
    }
}

impl Stores {
    /// Reads a whole store and returns its damage: bad files, bad events, and events that only the
    /// transcripts have.
    pub fn verify(&self, path: &Path) -> Vec<Damage> {
        let store = match self.open(path) {
            Ok(store) => store,
            Err(error) => return Damage::from_open_error(path, &error).into_iter().collect(),
        };
        let found = |one: String| Damage::new(format!("{}: {one}", path.display()), REPAIR_ADVICE);
        let mut damage: Vec<Damage> = match store.verify() {
            Ok(findings) => findings.into_iter().map(found).collect(),
            Err(error) => vec![found(error.to_string())],
        };
        let missing = TranscriptEvents::new(self.find_transcripts(path))
            .filter(|event| store.position(&event.id).is_ok_and(|position| position.is_none()))
            .count();
        if missing > 0 {
            damage.push(found(format!("transcripts hold {missing} events that are missing here")));
        }
        damage
    }

    /// Returns the damage that checksums and counts reveal, without reading every event.
    pub fn verify_files(&self, path: &Path) -> Vec<Damage> {
        let store = match self.open(path) {
            Ok(store) => store,
            Err(error) => return Damage::from_open_error(path, &error).into_iter().collect(),
        };
        let found = |one: String| Damage::new(format!("{}: {one}", path.display()), REPAIR_ADVICE);
        let mut damage = Damage::find_in_store(&store);
        match store.verify_files() {
            Ok(findings) => damage.extend(findings.into_iter().map(found)),
            Err(error) => damage.push(found(error.to_string())),
        }
        damage
    }

    /// Rebuilds a store from all of it that is still readable and from its sessions' transcripts.
    /// Waits until the store is unused; callers that open it meanwhile wait for the repair.
    pub fn repair(&self, path: &Path) -> Result<RepairReport, HomeError> {
        let slot = Arc::clone(self.lock_slots().entry(path.to_path_buf()).or_default());
        let since = Instant::now();
        let mut slot = loop {
            // Release the lock while waiting: a current user of the store may need to open it
            // again.
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if !slot.is_in_use() {
                break slot;
            }
            drop(slot);
            if since.elapsed() > REPAIR_WAIT {
                let busy = std::io::Error::other("it is in use; try again later");
                return Err(HomeError::file("repair", path)(busy));
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "there is no notification when a store is released"
            )]
            std::thread::sleep(Duration::from_millis(10));
        };
        slot.close();
        let mut events = TranscriptEvents::new(self.find_transcripts(path));
        let repaired = tome_ledger::repair(path, &mut events, SESSION_STATS_PROJECTION)?;
        if repaired.restored > 0 || repaired.lost > 0 || repaired.derived_dropped {
            // The indexes follow the numbers of events; they are rebuilt from the store.
            let _ = std::fs::remove_dir_all(layout::index_dir(path));
        }
        Ok(repaired)
    }

    fn find_transcripts(&self, path: &Path) -> Vec<PathBuf> {
        let folders = match self.mode() {
            StoreMode::PerProject => path.parent().map(Path::to_path_buf).into_iter().collect(),
            StoreMode::Unified => {
                self.projects().all().into_iter().map(|(_, folder)| folder).collect::<Vec<_>>()
            }
        };
        let mut files = Vec::new();
        for folder in folders {
            for session in list_sorted(&layout::sessions_dir(&folder)) {
                files.extend(
                    list_sorted(&session).into_iter().filter(|path| layout::is_transcript(path)),
                );
            }
        }
        files
    }
}

fn list_sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Iterates over the events of transcripts, file by file. Lines that are not events are skipped.
struct TranscriptEvents {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<BufReader<File>>,
}

impl TranscriptEvents {
    fn new(files: Vec<PathBuf>) -> Self {
        Self { files: files.into_iter(), open: None }
    }
}

impl Iterator for TranscriptEvents {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let Some(reader) = &mut self.open else {
                let path = self.files.next()?;
                let is_file = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
                self.open = is_file.then(|| File::open(&path).ok().map(BufReader::new)).flatten();
                continue;
            };
            let mut line = Vec::new();
            match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => self.open = None,
                Ok(_) => {
                    if let Ok(event) = serde_json::from_slice(&line) {
                        return Some(event);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_check_reads_a_history_that_is_too_large_for_a_quick_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let history = home.coder().join(".history");
        std::fs::create_dir_all(&history).unwrap();
        let mut damaged = vec![b'x'; usize::try_from(QUICK_HISTORY_BYTES_MAX).unwrap()];
        damaged.push(b'\n');
        crate::write_atomic(&history.join("history.jsonl"), damaged.as_ref()).unwrap();
        let projects = Projects::load(&home);
        assert_eq!(Damage::find_in_files(&home, &projects, CheckDepth::Quick), []);
        let found = Damage::find_in_files(&home, &projects, CheckDepth::Full);
        let [damage] = &found[..] else { panic!("{found:?}") };
        assert!(damage.problem.contains("line 1: a version is damaged"), "{damage:?}");
    }
}
