//! The history of a notebook: every version of every note, in the append-only `history.jsonl`.
//!
//! One JSON object per line, in chronological order:
//!
//! ```json
//! {"n":12,"at":"2026-11-15T09:30:00.000Z","path":"facts/user.md","op":"changed","who":"agent",
//!  "agent":"claude-code","session":"s1","tool":"memory_patch","version":"9f2c…","bytes":320,
//!  "added":1,"removed":1,"keep":[120,40],"text":"- Role: lead"}
//! ```
//!
//! `text` is the whole note or, with `keep: [head, tail]`, the part between the first `head` and the
//! last `tail` bytes of the previous version. Every 32 changes a note is written whole again, which
//! bounds the cost of rebuilding a version. Content that is not UTF-8 is in `hex`. A deletion has
//! neither.
//!
//! Versions that a restore brought from another home have `restored: true`. They are appended like any
//! other, keep their own time and author, and say nothing about the state of the note here; their
//! deltas build on each other.
//!
//! Why not git: a line takes one append and one sync where a commit takes several processes;
//! nothing has to be installed; a notebook inside a repository needs no nested one; and any JSON
//! tool can read it.

mod history_line;
mod import;
mod integrity;
pub(crate) mod pending_write;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_model::Millis;

use crate::folder::{create_private_folder, open_for_append, sync_folder_path};
use crate::{Actor, Author, NoteOp, NoteVersion, NotebookError, Result};
use history_line::{HistoryLine, VersionBody};
use integrity::HistoryIntegrity;

pub use import::HeldVersions;
pub use integrity::check_history;

/// The version of a deleted note.
pub(crate) const DELETED_VERSION: &str = "-";
/// Deltas after which a note is written whole again.
const DELTAS_MAX: u32 = 32;
const HISTORY_FILE: &str = "history.jsonl";

pub(crate) struct History {
    folder: PathBuf,
    /// Bytes of the file read so far.
    bytes_read: u64,
    /// Whether the last line has no line break.
    torn: bool,
    last_number: u64,
    latest: HashMap<String, LatestVersion>,
    /// Notes of which a restore brought versions.
    restored: HashSet<String>,
    integrity: HistoryIntegrity,
}

/// A version with its content.
pub(crate) struct VersionContent<'a> {
    pub version: &'a str,
    /// `None` for deletions and for versions that can no longer be rebuilt.
    pub content: Option<&'a [u8]>,
    /// Whether a restore brought it.
    pub is_restored: bool,
}

/// The latest version of a note.
#[derive(Debug, Clone)]
struct LatestVersion {
    version: String,
    /// Deltas since it was last written whole; `None` if the next line has to be whole.
    deltas: Option<u32>,
}

/// A change to a note, to be recorded.
pub(crate) struct HistoryRecord<'a> {
    pub path: &'a str,
    pub by: &'a Author,
    /// Whether the note existed before.
    pub existed: bool,
    /// The previous content, if known.
    pub before: Option<&'a [u8]>,
    /// The new content; `None` if it was deleted.
    pub after: Option<&'a [u8]>,
}

/// Derives a content's version: 12 hexadecimal digits of its BLAKE3 hash.
pub(crate) fn content_version(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(12).collect()
}

impl History {
    /// Creates the history of a folder, which need not exist. Reads nothing yet.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            bytes_read: 0,
            torn: false,
            last_number: 0,
            latest: HashMap::new(),
            restored: HashSet::new(),
            integrity: HistoryIntegrity::default(),
        }
    }

    pub fn exists(&self) -> bool {
        self.file_path().exists()
    }

    /// The latest version of a note; `None` if the history has none, `-` if it was deleted.
    pub fn latest_version(&self, path: &str) -> Option<&str> {
        self.latest.get(path).map(|latest| latest.version.as_str())
    }

    /// Whether a restore brought versions of a note.
    pub fn has_restored(&self, path: &str) -> bool {
        self.restored.contains(path)
    }

    /// The paths of all notes that exist according to the history.
    pub fn existing_paths(&self) -> impl Iterator<Item = &str> {
        let there = self.latest.iter().filter(|(_, latest)| latest.version != DELETED_VERSION);
        there.map(|(path, _)| path.as_str())
    }

    /// Reads the lines appended since the last call. The caller holds the notebook's lock. Returns
    /// whether lines read earlier are gone.
    pub fn catch_up(&mut self) -> Result<bool> {
        let path = self.file_path();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let lost = self.bytes_read > 0;
                *self = Self::new(&self.folder);
                return Ok(lost);
            }
            Err(error) => return Err(NotebookError::file_error("read", &path)(error)),
        };
        let failed = |cause| NotebookError::file_error("read", &path)(cause);
        let length = file.metadata().map_err(failed)?.len();
        let lost = length < self.bytes_read;
        if lost {
            // The file was truncated or replaced.
            *self = Self::new(&self.folder);
        }
        if length == self.bytes_read {
            return Ok(lost);
        }
        let failed = |cause| NotebookError::file_error("read", &path)(cause);
        file.seek(SeekFrom::Start(self.bytes_read)).map_err(failed)?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut raw = Vec::new();
        loop {
            raw.clear();
            let read = reader.read_until(b'\n', &mut raw).map_err(failed)?;
            if read == 0 {
                return Ok(lost);
            }
            self.apply_line(&raw);
        }
    }

    /// Describes damaged and missing versions, as far as the file has been read.
    pub fn list_damage(&self) -> Vec<String> {
        self.integrity.describe_damage(&self.folder)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Finds who wrote the given versions (by path), and whether only another home had them; omits
    /// those not written through Tome.
    pub fn find_authors(
        &self,
        versions: &HashMap<&str, String>,
    ) -> Result<HashMap<String, (Actor, bool)>> {
        let mut authors: HashMap<String, (Actor, bool)> = HashMap::new();
        self.for_each_line(None, &mut |line| {
            if versions.get(line.path.as_str()) == Some(&line.version) {
                let (path, is_restored) = (line.path.clone(), line.restored);
                if let Some(who) = line.into_version().map(|version| version.by.who)
                    && who != Actor::Outside
                    && (!is_restored || authors.get(&path).is_none_or(|(_, restored)| *restored))
                {
                    authors.insert(path, (who, is_restored));
                }
            }
        })?;
        Ok(authors)
    }

    fn apply_line(&mut self, raw: &[u8]) {
        self.bytes_read += raw.len() as u64;
        self.torn = !raw.ends_with(b"\n");
        let head = HistoryLine::parse_head(raw);
        self.integrity.check_line(head.as_ref().map(|head| head.number), !self.torn);
        match head {
            Some(head) if head.is_restored => {
                self.last_number = self.last_number.max(head.number);
                self.restored.insert(head.path);
            }
            Some(head) => {
                self.last_number = self.last_number.max(head.number);
                let before = self.latest.get(&head.path).and_then(|latest| latest.deltas);
                let chain = if head.is_full { Some(0) } else { before.map(|chain| chain + 1) };
                self.latest
                    .insert(head.path, LatestVersion { version: head.version, deltas: chain });
            }
            // A line was lost: its note is unknown, so no delta may build on any latest version.
            None => self.latest.values_mut().for_each(|latest| latest.deltas = None),
        }
    }

    /// Appends changes and syncs the file, all or none. The caller holds the notebook's lock and
    /// has caught up. Returns the mark for `undo_append`.
    pub fn append_records(
        &mut self,
        at: Millis,
        happened: &[HistoryRecord<'_>],
    ) -> Result<AppendMark> {
        create_private_folder(&self.folder)
            .map_err(NotebookError::file_error("create", &self.folder))?;
        let path = self.file_path();
        let is_new = !path.exists();
        let mut file = open_for_append(&path).map_err(NotebookError::file_error("open", &path))?;
        let mut text = Vec::new();
        if self.torn {
            text.push(b'\n');
        }
        for (number, happened) in (self.last_number + 1..).zip(happened) {
            let chained = self.can_store_delta(happened);
            HistoryLine::new(number, at, happened, chained).write_to(&mut text);
        }
        let before = AppendMark { length: self.bytes_read };
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        let written =
            written.and_then(|()| if is_new { sync_folder_path(&self.folder) } else { Ok(()) });
        if let Err(error) = written {
            self.undo_append(&before);
            return Err(NotebookError::file_error("write", &path)(error));
        }
        // Not read back from the file: that could fail, and the lines are there to stay.
        text.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.apply_line(line));
        Ok(before)
    }

    /// Whether a change can be stored as a delta against the note's latest version.
    fn can_store_delta(&self, happened: &HistoryRecord<'_>) -> bool {
        let (Some(latest), Some(before)) = (self.latest.get(happened.path), happened.before) else {
            return false;
        };
        latest.deltas.is_some_and(|chain| chain < DELTAS_MAX)
            && latest.version == content_version(before)
    }

    /// Removes the lines just appended, because the change itself failed. The caller still holds
    /// the lock.
    pub fn undo_append(&mut self, appended: &AppendMark) {
        let file = std::fs::OpenOptions::new().write(true).open(self.file_path());
        // If truncating fails, a version that was never on disk remains, which is harmless.
        let _ = file.and_then(|file| file.set_len(appended.length).and_then(|()| file.sync_data()));
        *self = Self::new(&self.folder);
        let _ = self.catch_up();
    }

    /// Reads all versions, oldest first, of one note or of all. Those that a restore brought are where
    /// their time belongs.
    pub fn read_versions(&self, path: Option<&str>) -> Result<Vec<NoteVersion>> {
        let (mut own, mut restored) = (Vec::new(), Vec::new());
        self.for_each_line(path, &mut |line| {
            let list = if line.restored { &mut restored } else { &mut own };
            list.extend(line.into_version());
        })?;
        if restored.is_empty() {
            return Ok(own);
        }
        restored.sort_by_key(|version: &NoteVersion| version.at);
        let mut restored = restored.into_iter().peekable();
        let mut versions = Vec::new();
        for version in own {
            versions.extend(std::iter::from_fn(|| restored.next_if(|it| it.at <= version.at)));
            versions.push(version);
        }
        versions.extend(restored);
        Ok(versions)
    }

    /// Visits the versions of a note with their contents, in the order of the file. Holds few contents
    /// at a time: all versions of a large note would not fit in memory.
    pub fn for_each_content(
        &self,
        path: &str,
        visit: &mut dyn FnMut(VersionContent<'_>),
    ) -> Result<()> {
        let (mut own, mut restored): (Option<Vec<u8>>, Option<Vec<u8>>) = (None, None);
        self.for_each_line(Some(path), &mut |line| {
            let content = if line.restored { &mut restored } else { &mut own };
            *content = line.rebuild_verified(content.as_deref());
            visit(VersionContent {
                version: &line.version,
                content: content.as_deref(),
                is_restored: line.restored,
            });
        })
    }

    /// Reads the latest content of a note; `None` if it was deleted.
    pub fn read_last_content(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let mut last = None;
        self.for_each_content(path, &mut |it| {
            if !it.is_restored {
                last = it.content.map(<[u8]>::to_vec);
            }
        })?;
        Ok(last)
    }

    /// Visits the lines of one note or of all.
    fn for_each_line(&self, of: Option<&str>, visit: &mut dyn FnMut(HistoryLine)) -> Result<()> {
        read_raw_lines(&self.file_path(), &mut |raw| {
            // Parsing the head is much cheaper, and most lines belong to other notes.
            let is_wanted = of
                .is_none_or(|of| HistoryLine::parse_head(raw).is_some_and(|head| head.path == of));
            if is_wanted && let Some(line) = HistoryLine::parse(raw) {
                visit(line);
            }
            Ok(())
        })
    }

    fn file_path(&self) -> PathBuf {
        self.folder.join(HISTORY_FILE)
    }
}

/// Visits the lines of a history file, which need not exist.
fn read_raw_lines(path: &Path, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(NotebookError::file_error("read", path)(error)),
    };
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut raw = Vec::new();
    loop {
        raw.clear();
        let read = reader.read_until(b'\n', &mut raw);
        if read.map_err(NotebookError::file_error("read", path))? == 0 {
            return Ok(());
        }
        visit(&raw)?;
    }
}

/// Length of the history before an append.
pub(crate) struct AppendMark {
    length: u64,
}

impl HistoryRecord<'_> {
    fn op(&self) -> NoteOp {
        match (self.existed, self.after) {
            (_, None) => NoteOp::Deleted,
            (false, Some(_)) => NoteOp::Created,
            (true, Some(_)) => NoteOp::Changed,
        }
    }

    fn build_body(&self, chained: bool) -> VersionBody {
        match (self.before, self.after) {
            (_, None) => VersionBody::Gone {},
            (Some(before), Some(after)) if chained => VersionBody::delta(before, after),
            (_, Some(after)) => VersionBody::full(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::outside_author;

    fn append(history: &mut History, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) {
        let (by, existed) = (outside_author(), before.is_some());
        let record = HistoryRecord { path, by: &by, existed, before, after };
        history.append_records(Millis(1_000), &[record]).unwrap();
    }

    fn state(history: &History) -> String {
        let latest: std::collections::BTreeMap<_, _> = history.latest.iter().collect();
        let History { bytes_read, torn, last_number, .. } = history;
        format!("{bytes_read} {torn} {last_number} {latest:?}")
    }

    #[test]
    fn appended_lines_are_known_without_rereading() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::new(folder.path());
        let check = |history: &History| {
            let mut read = History::new(folder.path());
            read.catch_up().unwrap();
            assert_eq!(state(history), state(&read));
            assert_eq!(history.list_damage(), read.list_damage());
        };
        append(&mut history, "a.md", None, Some(b"one\n"));
        append(&mut history, "a.md", Some(b"one\n"), Some(b"one\ntwo\n"));
        append(&mut history, "b.md", None, Some(b"b\n"));
        append(&mut history, "b.md", Some(b"b\n"), None);
        check(&history);
        let mut file = open_for_append(&history.file_path()).unwrap();
        file.write_all(b"{\"n\":5,\"at").unwrap();
        history.catch_up().unwrap();
        append(&mut history, "a.md", Some(b"one\ntwo\n"), Some(b"three\n"));
        check(&history);
        assert!(!history.catch_up().unwrap());
        assert_eq!(history.read_last_content("a.md").unwrap().as_deref(), Some(&b"three\n"[..]));
    }
}
