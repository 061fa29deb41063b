//! Adds the versions of another home to a history.

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::path::Path;

use super::history_line::{HistoryLine, HistoryLineHead};
use super::{DELETED_VERSION, History, content_version, read_raw_lines};
use crate::folder::{create_private_folder, open_for_append, sync_folder_path};
use crate::{NotebookError, Result};

impl History {
    /// Appends the versions in another history file that this history lacks, with their times and
    /// authors, and syncs it. The caller holds the notebook's lock and has caught up. What an
    /// interrupted import appended is known to the next one. Returns the number of added versions.
    pub fn import(&mut self, other: &Path) -> Result<u64> {
        let mut known = HashSet::new();
        self.for_each_line(None, &mut |line| {
            known.insert(line.identity());
        })?;
        create_private_folder(&self.folder)
            .map_err(NotebookError::file_error("create", &self.folder))?;
        let path = self.file_path();
        let failed = |error| NotebookError::file_error("write", &path)(error);
        let mut file = BufWriter::new(open_for_append(&path).map_err(failed)?);
        if self.torn {
            file.write_all(b"\n").map_err(failed)?;
        }
        let first = self.last_number + 1;
        let mut number = first;
        // Own and restored versions of a note are separate chains of deltas there, and one here.
        let mut contents: HashMap<(String, bool), Option<Vec<u8>>> = HashMap::new();
        let mut last_versions: HashMap<String, String> = HashMap::new();
        let mut text = Vec::new();
        read_raw_lines(other, &mut |raw| {
            let Some(mut line) = HistoryLine::parse(raw) else { return Ok(()) };
            let before = contents.entry((line.path.clone(), line.restored)).or_default();
            let content = line.rebuild_verified(before.as_deref());
            if known.insert(line.identity()) {
                let last = last_versions.get(&line.path).map(String::as_str);
                line.mark_restored(number, last, before.as_deref(), content.as_deref());
                last_versions.insert(line.path.clone(), line.version.clone());
                text.clear();
                line.write_to(&mut text);
                file.write_all(&text).map_err(failed)?;
                number += 1;
            }
            *before = content;
            Ok(())
        })?;
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)?;
        sync_folder_path(&self.folder).map_err(failed)?;
        self.catch_up()?;
        Ok(number - first)
    }
}

/// The versions that notes had in a home, according to a history file.
#[derive(Debug, Default)]
pub struct HeldVersions {
    /// By path; the latest is the last.
    by_path: HashMap<String, Vec<String>>,
}

impl HeldVersions {
    /// Reads a history file, which need not exist. Leaves out what a restore brought.
    pub fn read(history: &Path) -> Result<Self> {
        let mut by_path: HashMap<String, Vec<String>> = HashMap::new();
        read_raw_lines(history, &mut |raw| {
            if let Some(HistoryLineHead { path, version, is_restored: false, .. }) =
                HistoryLine::parse_head(raw)
            {
                by_path.entry(path).or_default().push(version);
            }
            Ok(())
        })?;
        Ok(Self { by_path })
    }

    /// Whether the note had this content.
    pub fn contains(&self, path: &str, content: &[u8]) -> bool {
        let version = content_version(content);
        self.by_path.get(path).is_some_and(|held| held.contains(&version))
    }

    /// Whether the note was deleted.
    pub fn is_deleted(&self, path: &str) -> bool {
        let last = self.by_path.get(path).and_then(|held| held.last());
        last.is_some_and(|version| version == DELETED_VERSION)
    }
}

#[cfg(test)]
mod tests {
    use tome_model::Millis;

    use super::super::HistoryRecord;
    use super::*;
    use crate::{Actor, Author};

    const PATH: &str = "facts/project.md";

    /// Writes the states of a note, a second apart.
    fn write_states(folder: &Path, agent: &str, from_ms: u64, states: &[&str]) {
        let mut history = History::new(folder);
        history.catch_up().unwrap();
        let by = Author {
            who: Actor::Agent { agent: agent.to_owned(), session: None },
            tool: "memory_write".to_owned(),
        };
        for (place, state) in states.iter().enumerate() {
            let before = history.read_last_content(PATH).unwrap();
            let record = HistoryRecord {
                path: PATH,
                by: &by,
                existed: before.is_some(),
                before: before.as_deref(),
                after: Some(state.as_bytes()).filter(|state| !state.is_empty()),
            };
            let at = Millis(from_ms + place as u64 * 1_000);
            history.append_records(at, &[record]).unwrap();
        }
    }

    /// The author, time and content of every version, as the log lists them.
    fn list_versions(folder: &Path) -> Vec<(String, u64, String)> {
        let mut history = History::new(folder);
        history.catch_up().unwrap();
        assert_eq!(history.list_damage(), Vec::<String>::new());
        let mut contents = HashMap::new();
        history
            .for_each_content(PATH, &mut |it| {
                let content = it.content.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
                contents.insert(it.version.to_owned(), content.unwrap_or_default());
            })
            .unwrap();
        let versions = history.read_versions(Some(PATH)).unwrap().into_iter();
        versions
            .map(|one| {
                let Actor::Agent { agent, .. } = one.by.who else { panic!("{one:?}") };
                (agent, one.at.0, contents[&one.version].clone())
            })
            .collect()
    }

    fn import(folder: &Path, other: &Path) -> u64 {
        let mut history = History::new(folder);
        history.catch_up().unwrap();
        history.import(&other.join("history.jsonl")).unwrap()
    }

    const LONG: &str = "- Database: SQLite, which needs no server and is one file\n";

    #[test]
    fn imported_versions_keep_their_time_author_and_content() {
        let top = tempfile::tempdir().unwrap();
        let (here, there) = (top.path().join("here"), top.path().join("there"));
        let there_states = [LONG.to_owned(), format!("{LONG}- Cache: none\n"), String::new()];
        let states: Vec<&str> = there_states.iter().map(String::as_str).collect();
        write_states(&there, "codex", 1_000, &states);
        let mine = [format!("{LONG}- Own\n"), format!("{LONG}- Own\n- Second\n")];
        write_states(&here, "claude-code", 1_500, &[&mine[0], &mine[1]]);
        assert_eq!((import(&here, &there), import(&here, &there)), (3, 0));
        let expected = [
            ("codex", 1_000, &there_states[0]),
            ("claude-code", 1_500, &mine[0]),
            ("codex", 2_000, &there_states[1]),
            ("claude-code", 2_500, &mine[1]),
            ("codex", 3_000, &there_states[2]),
        ];
        let expected = expected.map(|(who, at, text)| (who.to_owned(), at, text.clone()));
        assert_eq!(list_versions(&here), expected);
        // The state of the note here is still its own, and the next change builds on it.
        let mut history = History::new(&here);
        history.catch_up().unwrap();
        assert_eq!(
            history.latest_version(PATH),
            Some(content_version(mine[1].as_bytes()).as_str())
        );
        let third = format!("{}- Third\n", mine[1]);
        write_states(&here, "claude-code", 9_000, &[&third]);
        assert_eq!(list_versions(&here).last().unwrap().2, third);
        // More from there, and back again: every version is there once.
        write_states(&there, "codex", 20_000, &[LONG, &format!("{LONG}- Again\n")]);
        assert_eq!((import(&here, &there), import(&there, &here)), (2, 3));
        assert_eq!(list_versions(&here), list_versions(&there));
        assert_eq!((import(&here, &there), import(&there, &here)), (0, 0));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    fn an_import_that_was_cut_is_completed() {
        let top = tempfile::tempdir().unwrap();
        let there = top.path().join("there");
        let texts: Vec<String> = (0..6).map(|n| format!("{LONG}- Line {n}\n")).collect();
        let states: Vec<&str> = texts.iter().map(String::as_str).collect();
        write_states(&there, "codex", 1_000, &states);
        let whole = top.path().join("whole");
        write_states(&whole, "claude-code", 500, &["mine\n"]);
        import(&whole, &there);
        let bytes = std::fs::read(whole.join("history.jsonl")).unwrap();
        let own = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in (own..bytes.len()).step_by(97) {
            let here = top.path().join(format!("cut-{cut}"));
            std::fs::create_dir_all(&here).unwrap();
            std::fs::write(here.join("history.jsonl"), &bytes[..cut]).unwrap();
            import(&here, &there);
            assert_eq!(list_versions(&here), list_versions(&whole), "cut at {cut}");
        }
    }
}
