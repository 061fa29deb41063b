//! What a session's file holds: which line is which event, and which lines are somebody else's.
//!
//! A line is an event's if it begins as one (`{"id":"…"`), ends with `}` and holds no NUL, which is
//! what a file system puts where power loss took bytes away. A line that a crash tore at a `}` gets
//! a space at its end when it is ended, so that nobody takes it for whole. Reading holds no line in
//! memory, however long it is.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use serde::de::IgnoredAny;
use tome_model::EventId;

use tome_home::{FinalLink, open_regular};

/// What an event's line begins with: its id is its first field.
const BEGINNING: &[u8] = br#"{"id":"#;
/// The beginning of a line that is kept to find its id: 128 bytes, each escaped at worst.
const HEAD_BYTES: usize = 512;
/// A line that was never ended is looked at whole up to this length; a longer one is torn.
const UNENDED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) stamp: Stamp,
    /// How many lines; the last may lack its end.
    pub(super) lines: u32,
    /// The line of each event, by a hash of its id.
    ids: HashMap<u128, u32>,
    /// Lines that are no events.
    pub(super) foreign: Vec<Foreign>,
    /// What has to be written before the next line.
    pub(super) ending: &'static [u8],
}

/// What tells whether somebody else has written to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) len: u64,
    modified: Option<SystemTime>,
}

/// A line that is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    pub(super) line: u32,
    /// Where it begins, and how long it is without its end.
    pub(super) at: u64,
    pub(super) len: u64,
}

/// A line as far as it was read.
#[derive(Debug, Default)]
struct Open {
    head: Vec<u8>,
    last: Option<u8>,
    len: u64,
    has_nul: bool,
}

impl Stamp {
    pub(super) fn of(meta: &std::fs::Metadata) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok() }
    }
}

impl Scan {
    /// Reads a file; one that is not there holds nothing.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let mut file = match open_regular(path, FinalLink::Refuse) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error),
        };
        let mut scan = Self { stamp: Stamp::of(&file.metadata()?), ..Self::default() };
        let mut open = Open::default();
        let mut at = 0;
        // What is added meanwhile is for the next time.
        let mut reader = BufReader::with_capacity(64 * 1024, (&file).take(scan.stamp.len));
        loop {
            let read = reader.fill_buf()?;
            if read.is_empty() {
                break;
            }
            for piece in read.split_inclusive(|byte| *byte == b'\n') {
                at += open.take(piece);
                if piece.ends_with(b"\n") {
                    let begun = at - 1 - open.len;
                    scan.add(&open, begun);
                    open = Open::default();
                }
            }
            let len = read.len();
            reader.consume(len);
        }
        if open.len > 0 {
            scan.add_unended(&open, at - open.len, &mut file)?;
        }
        Ok(scan)
    }

    /// The line of an event.
    pub(super) fn line_of(&self, id: &EventId) -> Option<u32> {
        self.ids.get(&hash(id)).copied()
    }

    /// How many different events it holds.
    pub(super) fn event_count(&self) -> u64 {
        self.ids.len() as u64
    }

    /// How much it holds in memory, in entries.
    pub(super) fn weight(&self) -> usize {
        self.ids.len() + self.foreign.len()
    }

    /// An event was added as the next line.
    pub(super) fn added(&mut self, id: &EventId) {
        self.lines = self.lines.saturating_add(1);
        self.ids.insert(hash(id), self.lines);
    }

    fn add(&mut self, line: &Open, at: u64) {
        self.lines = self.lines.saturating_add(1);
        // Of an event that is there twice, the first line is the one.
        let number = self.lines;
        match line.event() {
            Some(id) if !self.ids.contains_key(&hash(&id)) => {
                self.ids.insert(hash(&id), number);
            }
            _ => self.foreign.push(Foreign { line: number, at, len: line.len }),
        }
    }

    /// The last line, which lacks its end: an event but for that, or torn.
    fn add_unended(&mut self, line: &Open, at: u64, file: &mut File) -> std::io::Result<()> {
        self.ending = b"\n";
        if line.event().is_some() {
            if is_json(file, at, line.len)? {
                self.add(line, at);
                return Ok(());
            }
            self.ending = b" \n";
        }
        self.lines = self.lines.saturating_add(1);
        self.foreign.push(Foreign { line: self.lines, at, len: line.len });
        Ok(())
    }
}

impl Open {
    /// Takes a piece of the line and says how long it was.
    fn take(&mut self, piece: &[u8]) -> u64 {
        let text = piece.strip_suffix(b"\n").unwrap_or(piece);
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(text.len());
        self.head.extend(text.iter().take(room));
        self.last = text.last().copied().or(self.last);
        self.len += text.len() as u64;
        self.has_nul |= text.contains(&0);
        piece.len() as u64
    }

    /// The event that it is.
    fn event(&self) -> Option<EventId> {
        let is_whole = self.last == Some(b'}') && !self.has_nul;
        is_whole.then(|| id_of(&self.head)).flatten()
    }
}

/// The id of the event whose line begins like this.
pub(super) fn id_of(head: &[u8]) -> Option<EventId> {
    let behind = head.strip_prefix(BEGINNING)?;
    let id: String = serde_json::Deserializer::from_slice(behind).into_iter().next()?.ok()?;
    EventId::parse(&id).ok()
}

fn is_json(file: &mut File, at: u64, len: u64) -> std::io::Result<bool> {
    if len > UNENDED_BYTES_MAX {
        return Ok(false);
    }
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut line)?;
    Ok(serde_json::from_slice::<IgnoredAny>(&line).is_ok())
}

/// Half of a hash: a session's ids in a third of the room, and none of them ever meet.
fn hash(id: &EventId) -> u128 {
    let hash = blake3::hash(id.as_str().as_bytes());
    hash.as_bytes().first_chunk::<16>().map_or(0, |half| u128::from_be_bytes(*half))
}
