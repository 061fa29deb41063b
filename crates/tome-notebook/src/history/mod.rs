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
//! Why not git: a line takes one append and one sync where a commit takes several processes;
//! nothing has to be installed; a notebook inside a repository needs no nested one; and any JSON
//! tool can read it.

mod integrity;
mod line;
pub(crate) mod pending;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tome_model::Millis;

use crate::folder::{append_to, make_private, sync_to_disk};
use crate::{Author, NotebookError, Op, Result, Version, Who};
use integrity::Integrity;
use line::{Body, Line};

pub use integrity::check_history;

/// The version of a deleted note.
pub(crate) const GONE: &str = "-";
/// Deltas after which a note is written whole again.
const CHAIN_MAX: u32 = 32;
const FILE: &str = "history.jsonl";

pub(crate) struct History {
    folder: PathBuf,
    /// Bytes of the file read so far.
    read_upto: u64,
    /// Whether the last line has no line break.
    torn: bool,
    number: u64,
    latest: HashMap<String, Latest>,
    integrity: Integrity,
}

/// The latest version of a note.
#[derive(Debug, Clone)]
struct Latest {
    version: String,
    /// Deltas since it was last written whole; `None` if the next line has to be whole.
    chain: Option<u32>,
}

/// A change to a note, to be recorded.
pub(crate) struct Happened<'a> {
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
pub(crate) fn version_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(12).collect()
}

impl History {
    /// Creates the history of a folder, which need not exist. Reads nothing yet.
    pub fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            read_upto: 0,
            torn: false,
            number: 0,
            latest: HashMap::new(),
            integrity: Integrity::default(),
        }
    }

    pub fn exists(&self) -> bool {
        self.file().exists()
    }

    /// The latest version of a note; `None` if the history has none, `-` if it was deleted.
    pub fn latest(&self, path: &str) -> Option<&str> {
        self.latest.get(path).map(|latest| latest.version.as_str())
    }

    /// The paths of all notes that exist according to the history.
    pub fn present(&self) -> impl Iterator<Item = &str> {
        let there = self.latest.iter().filter(|(_, latest)| latest.version != GONE);
        there.map(|(path, _)| path.as_str())
    }

    /// Reads the lines appended since the last call. The caller holds the notebook's lock. Returns
    /// whether lines read earlier are gone.
    pub fn catch_up(&mut self) -> Result<bool> {
        let path = self.file();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let lost = self.read_upto > 0;
                *self = Self::of(&self.folder);
                return Ok(lost);
            }
            Err(error) => return Err(NotebookError::file("read", &path)(error)),
        };
        let failed = |cause| NotebookError::file("read", &path)(cause);
        let length = file.metadata().map_err(failed)?.len();
        let lost = length < self.read_upto;
        if lost {
            // The file was truncated or replaced.
            *self = Self::of(&self.folder);
        }
        if length == self.read_upto {
            return Ok(lost);
        }
        let failed = |cause| NotebookError::file("read", &path)(cause);
        file.seek(SeekFrom::Start(self.read_upto)).map_err(failed)?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut raw = Vec::new();
        loop {
            raw.clear();
            let read = reader.read_until(b'\n', &mut raw).map_err(failed)?;
            if read == 0 {
                return Ok(lost);
            }
            self.read_upto += read as u64;
            self.torn = !raw.ends_with(b"\n");
            self.take(&raw);
        }
    }

    /// Describes damaged and missing versions, as far as the file has been read.
    pub fn damage(&self) -> Vec<String> {
        self.integrity.findings(&self.folder)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Finds who wrote the given versions (by path); omits those not written through Tome.
    pub fn authors_of(&self, versions: &HashMap<&str, String>) -> Result<HashMap<String, Who>> {
        let mut authors = HashMap::new();
        self.each_line(None, &mut |line| {
            if versions.get(line.path.as_str()) == Some(&line.version) {
                let path = line.path.clone();
                if let Some(who) = line.into_version().map(|version| version.by.who)
                    && who != Who::Outside
                {
                    authors.insert(path, who);
                }
            }
        })?;
        Ok(authors)
    }

    fn take(&mut self, raw: &[u8]) {
        let head = Line::head(raw);
        self.integrity.take(head.as_ref().map(|head| head.number), raw.ends_with(b"\n"));
        match head {
            Some(head) => {
                self.number = self.number.max(head.number);
                let before = self.latest.get(&head.path).and_then(|latest| latest.chain);
                let chain = if head.whole { Some(0) } else { before.map(|chain| chain + 1) };
                self.latest.insert(head.path, Latest { version: head.version, chain });
            }
            // A line was lost: its note is unknown, so no delta may build on any latest version.
            None => self.latest.values_mut().for_each(|latest| latest.chain = None),
        }
    }

    /// Appends changes and syncs the file, all or none. The caller holds the notebook's lock and
    /// has caught up. Returns the mark for `undo_append`.
    pub fn append(&mut self, at: Millis, happened: &[Happened<'_>]) -> Result<Appended> {
        make_private(&self.folder).map_err(NotebookError::file("create", &self.folder))?;
        let path = self.file();
        let is_new = !path.exists();
        let mut file = append_to(&path).map_err(NotebookError::file("open", &path))?;
        let mut text = Vec::new();
        if self.torn {
            text.push(b'\n');
        }
        for (number, happened) in (self.number + 1..).zip(happened) {
            let chained = self.builds_on(happened);
            Line::new(number, at, happened, chained).write_to(&mut text);
        }
        let before = Appended { length: self.read_upto };
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        let written =
            written.and_then(|()| if is_new { sync_to_disk(&self.folder) } else { Ok(()) });
        if let Err(error) = written {
            self.take_back(&before);
            return Err(NotebookError::file("write", &path)(error));
        }
        self.catch_up()?;
        Ok(before)
    }

    /// Whether a change can be stored as a delta against the note's latest version.
    fn builds_on(&self, happened: &Happened<'_>) -> bool {
        let (Some(latest), Some(before)) = (self.latest.get(happened.path), happened.before) else {
            return false;
        };
        latest.chain.is_some_and(|chain| chain < CHAIN_MAX) && latest.version == version_of(before)
    }

    /// Removes the lines just appended, because the change itself failed. The caller still holds
    /// the lock.
    pub fn take_back(&mut self, appended: &Appended) {
        let file = std::fs::OpenOptions::new().write(true).open(self.file());
        // If truncating fails, a version that was never on disk remains, which is harmless.
        let _ = file.and_then(|file| file.set_len(appended.length).and_then(|()| file.sync_data()));
        *self = Self::of(&self.folder);
        let _ = self.catch_up();
    }

    /// Reads all versions, oldest first, of one note or of all.
    pub fn log(&self, path: Option<&str>) -> Result<Vec<Version>> {
        let mut versions = Vec::new();
        self.each_line(path, &mut |line| versions.extend(line.into_version()))?;
        Ok(versions)
    }

    /// Visits the versions of a note with their contents, oldest first. The content is `None` for
    /// deletions and for versions that can no longer be rebuilt. Holds one content at a time: all
    /// versions of a large note would not fit in memory.
    pub fn each_content(
        &self,
        path: &str,
        visit: &mut dyn FnMut(&str, Option<&[u8]>),
    ) -> Result<()> {
        let mut content: Option<Vec<u8>> = None;
        self.each_line(Some(path), &mut |line| {
            let now = line.content(content.as_deref());
            content = now.filter(|bytes| version_of(bytes) == line.version);
            visit(&line.version, content.as_deref());
        })
    }

    /// Reads the latest content of a note; `None` if it was deleted.
    pub fn last_content(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let mut last = None;
        self.each_content(path, &mut |_, content| last = content.map(<[u8]>::to_vec))?;
        Ok(last)
    }

    /// Visits the lines of one note or of all.
    fn each_line(&self, of: Option<&str>, visit: &mut dyn FnMut(Line)) -> Result<()> {
        let path = self.file();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(NotebookError::file("read", &path)(error)),
        };
        let mut reader = BufReader::with_capacity(256 * 1024, file.take(u64::MAX));
        let mut raw = Vec::new();
        loop {
            raw.clear();
            let read = reader.read_until(b'\n', &mut raw);
            if read.map_err(NotebookError::file("read", &path))? == 0 {
                return Ok(());
            }
            // Parsing the head is much cheaper, and most lines belong to other notes.
            let is_wanted =
                of.is_none_or(|of| Line::head(&raw).is_some_and(|head| head.path == of));
            if is_wanted && let Some(line) = Line::parse(&raw) {
                visit(line);
            }
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// Length of the history before an append.
pub(crate) struct Appended {
    length: u64,
}

impl Happened<'_> {
    fn op(&self) -> Op {
        match (self.existed, self.after) {
            (_, None) => Op::Deleted,
            (false, Some(_)) => Op::Created,
            (true, Some(_)) => Op::Changed,
        }
    }

    fn body(&self, chained: bool) -> Body {
        match (self.before, self.after) {
            (_, None) => Body::Gone {},
            (Some(before), Some(after)) if chained => Body::between(before, after),
            (_, Some(after)) => Body::whole(after),
        }
    }
}
