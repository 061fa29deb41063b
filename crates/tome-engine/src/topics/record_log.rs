//! The file of segment records: JSON lines, appended; the last line about a segment counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tome_home::{HomeError, write_atomic};
use tome_model::{Millis, NodeId};
use tome_topics::SegmentRecord;

const FILE: &str = "segments.jsonl";
/// Raised when records change; the file is then rebuilt.
const FORMAT: u32 = 3;
/// Lines that no longer count, beyond which the file is rewritten without them.
const DEAD_LINES_MAX: u64 = 2_000;
/// Moves of the cursor after which it is written.
const UNSAVED_MAX: u64 = 500;
/// Bytes of one line; a longer one is damage.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogLine {
    /// The first line: the format, and the embedder of the vectors.
    Begin { format: u32, embedder: String },
    /// A segment.
    Put { project: String, record: Box<SegmentRecord> },
    /// A segment that is still open.
    Open { project: String, id: NodeId, last_at: Millis },
    /// A segment that does not count any more.
    Drop { project: String, id: NodeId },
    /// Changes of the contents up to this number are processed.
    Cursor(u64),
}

/// A position in the file up to which its lines were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogPosition {
    generation: u64,
    length: u64,
    pub(super) lines: u64,
}

/// Segments of a project that changed, by id; `None` for one that does not count any more.
pub(super) type Changes = BTreeMap<String, Option<SegmentRecord>>;

/// The state of the file.
#[derive(Debug)]
pub(super) struct RecordLog {
    path: PathBuf,
    embedder: String,
    /// Bytes of the file that are read and known; another length means that it was deleted.
    length: u64,
    /// Number of times that the file was rewritten.
    generation: u64,
    lines: u64,
    cursor: u64,
    /// Moves of the cursor since it was written.
    unsaved: u64,
    /// Segments with a record, by project and id.
    put: BTreeSet<(String, String)>,
    open: BTreeMap<(String, String), (NodeId, Millis)>,
}

impl RecordLog {
    /// The log in a folder, which is created with the first line.
    pub(super) fn new(folder: &Path, embedder: &str) -> Self {
        Self {
            path: folder.join(FILE),
            embedder: embedder.to_owned(),
            length: 0,
            generation: 0,
            lines: 0,
            cursor: 0,
            unsaved: 0,
            put: BTreeSet::new(),
            open: BTreeMap::new(),
        }
    }

    pub(super) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The end of the file, for [`Self::read_changes`].
    pub(super) fn position(&self) -> LogPosition {
        LogPosition { generation: self.generation, length: self.length, lines: self.lines }
    }

    /// Number of segments, open ones included.
    pub(super) fn segments(&self) -> u64 {
        let open = self.open.keys().filter(|key| !self.put.contains(*key)).count();
        (self.put.len() + open) as u64
    }

    pub(super) fn disk_bytes(&self) -> u64 {
        self.length
    }

    pub(super) fn open_segments(&self) -> impl Iterator<Item = (&str, &NodeId, Millis)> {
        self.open.iter().map(|((project, _), (id, last_at))| (project.as_str(), id, *last_at))
    }

    /// Reads the file, unless it is the one that is known.
    pub(super) fn refresh(&mut self) -> Result<(), HomeError> {
        let length = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        if length == self.length {
            return Ok(());
        }
        self.forget();
        let mut is_whole = true;
        let (mut known, mut length) = (false, 0);
        let path = self.path.clone();
        visit_lines(&path, &mut |line, bytes| {
            match line {
                Some(LogLine::Begin { format, embedder }) => {
                    known = format == FORMAT && embedder == self.embedder;
                }
                Some(line) if known => self.note(&line),
                _ => {
                    is_whole = false;
                    return false;
                }
            }
            length += bytes;
            true
        })?;
        self.length = length;
        if !known || !is_whole {
            // A torn or foreign line: everything can be read again from the contents.
            return self.clear();
        }
        Ok(())
    }

    /// Deletes the file.
    pub(super) fn clear(&mut self) -> Result<(), HomeError> {
        self.forget();
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(HomeError::file("delete", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Appends lines. They are not synced: what is lost is read again.
    pub(super) fn append(&mut self, lines: &[LogLine]) -> Result<(), HomeError> {
        if lines.is_empty() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(HomeError::file("create", folder))?;
        }
        let mut bytes = Vec::new();
        if self.length == 0 {
            push_line(&mut bytes, &self.begin());
        }
        lines.iter().for_each(|line| push_line(&mut bytes, line));
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&self.path);
        if let Err(error) = file.and_then(|mut file| file.write_all(&bytes)) {
            // A part of a line may be there.
            self.forget();
            let _ = std::fs::remove_file(&self.path);
            return Err(HomeError::file("write", &self.path)(error));
        }
        lines.iter().for_each(|line| self.note(line));
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Moves the cursor. It is written only now and then: after a crash some changes are read again.
    pub(super) fn advance(&mut self, cursor: u64) -> Result<(), HomeError> {
        self.unsaved += 1;
        self.cursor = cursor;
        if self.unsaved > UNSAVED_MAX || self.length == 0 {
            self.append(&[LogLine::Cursor(cursor)])
        } else {
            Ok(())
        }
    }

    /// Notes that an open segment has grown. Returns the line to write if it was not open before.
    pub(super) fn note_open(&mut self, line: LogLine) -> Option<LogLine> {
        let LogLine::Open { project, id, last_at } = &line else { return Some(line) };
        let known = self.open.get_mut(&(project.clone(), id.as_str().to_owned()));
        match known {
            Some(known) => {
                known.1 = *last_at;
                None
            }
            None => Some(line),
        }
    }

    /// Writes the file again if most of its lines no longer count.
    pub(super) fn compact(&mut self) -> Result<(), HomeError> {
        let live = (self.put.len() + self.open.len()) as u64;
        if self.lines < DEAD_LINES_MAX + live * 2 {
            return Ok(());
        }
        let mut kept: BTreeMap<(String, String), LogLine> = BTreeMap::new();
        visit_lines(&self.path, &mut |line, _| {
            match line {
                Some(LogLine::Put { project, record }) => {
                    let key = (project.clone(), record.id.as_str().to_owned());
                    kept.insert(key, LogLine::Put { project, record });
                }
                Some(LogLine::Drop { project, id }) => {
                    kept.remove(&(project, id.as_str().to_owned()));
                }
                Some(_) => {}
                None => return false,
            }
            true
        })?;
        let mut bytes = Vec::new();
        push_line(&mut bytes, &self.begin());
        kept.values().for_each(|line| push_line(&mut bytes, line));
        for ((project, _), (id, last_at)) in &self.open {
            let (project, id) = (project.clone(), id.clone());
            push_line(&mut bytes, &LogLine::Open { project, id, last_at: *last_at });
        }
        push_line(&mut bytes, &LogLine::Cursor(self.cursor));
        write_atomic(&self.path, &bytes)?;
        self.generation += 1;
        self.lines = live + 1;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// The segments of a project that changed since a position; all of them for `None` or if the file
    /// was rewritten since.
    pub(super) fn read_changes(
        &self,
        project: &str,
        since: Option<LogPosition>,
    ) -> Result<Changes, HomeError> {
        let since = since.filter(|since| self.is_continued_from(*since));
        let mut changes = Changes::new();
        visit_lines_from(&self.path, since.map_or(0, |since| since.length), &mut |line, _| {
            match line {
                Some(LogLine::Put { project: of, record }) if of == project => {
                    changes.insert(record.id.as_str().to_owned(), Some(*record));
                }
                Some(LogLine::Drop { project: of, id }) if of == project => {
                    changes.insert(id.as_str().to_owned(), None);
                }
                _ => {}
            }
            true
        })?;
        Ok(changes)
    }

    /// Whether the file only grew since a position.
    pub(super) fn is_continued_from(&self, since: LogPosition) -> bool {
        since.generation == self.generation && since.length <= self.length
    }

    fn begin(&self) -> LogLine {
        LogLine::Begin { format: FORMAT, embedder: self.embedder.clone() }
    }

    fn forget(&mut self) {
        self.generation += 1;
        (self.length, self.lines, self.cursor) = (0, 0, 0);
        self.put.clear();
        self.open.clear();
    }

    fn note(&mut self, line: &LogLine) {
        let key = |project: &str, id: &NodeId| (project.to_owned(), id.as_str().to_owned());
        self.lines += 1;
        match line {
            LogLine::Begin { .. } => {}
            LogLine::Cursor(cursor) => (self.cursor, self.unsaved) = (*cursor, 0),
            LogLine::Put { project, record } => {
                self.open.remove(&key(project, &record.id));
                self.put.insert(key(project, &record.id));
            }
            LogLine::Open { project, id, last_at } => {
                self.open.insert(key(project, id), (id.clone(), *last_at));
            }
            LogLine::Drop { project, id } => {
                self.open.remove(&key(project, id));
                self.put.remove(&key(project, id));
            }
        }
    }
}

fn push_line(bytes: &mut Vec<u8>, line: &LogLine) {
    if serde_json::to_writer(&mut *bytes, line).is_ok() {
        bytes.push(b'\n');
    }
}

/// Calls `visit` for each line with its length; `None` for a damaged one. Stops when it returns
/// false.
fn visit_lines(
    path: &Path,
    visit: &mut dyn FnMut(Option<LogLine>, u64) -> bool,
) -> Result<(), HomeError> {
    visit_lines_from(path, 0, visit)
}

fn visit_lines_from(
    path: &Path,
    from: u64,
    visit: &mut dyn FnMut(Option<LogLine>, u64) -> bool,
) -> Result<(), HomeError> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(HomeError::file("read", path))?,
    };
    file.seek(SeekFrom::Start(from)).map_err(HomeError::file("read", path))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(HomeError::file("read", path))?;
        if read == 0 {
            return Ok(());
        }
        let whole = line.strip_suffix(b"\n").filter(|line| line.len() <= LINE_BYTES_MAX);
        let parsed = whole.and_then(|line| serde_json::from_slice(line).ok());
        if !visit(parsed, read as u64) {
            return Ok(());
        }
    }
}
