//! Scans a transcript: maps events to lines, and finds foreign lines.
//!
//! A line is an event if it starts with `{"id":"…"`, ends with `}` and contains no NUL, which file
//! systems leave where power loss removed bytes. A line torn right after a `}` gets a space before
//! its terminator, so that it is not mistaken for a complete one. Scanning holds no line in memory,
//! however long.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use serde::de::IgnoredAny;
use tome_model::EventId;

use tome_home::{FinalLink, open_regular};

/// Start of an event's line: the id is the first field.
const EVENT_PREFIX: &[u8] = br#"{"id":"#;
/// Prefix of a line that is kept to read its id: up to 128 bytes, possibly escaped.
const HEAD_BYTES: usize = 512;
/// An unterminated line up to this length is parsed; a longer one counts as torn.
const UNTERMINATED_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct TranscriptScan {
    pub(super) stamp: TranscriptStamp,
    /// Number of lines; the last may be unterminated.
    pub(super) lines: u32,
    /// Line of each event, by a hash of its id.
    ids: HashMap<u128, u32>,
    /// Lines that are not events.
    pub(super) foreign: Vec<ForeignLine>,
    /// Bytes to write before the next line.
    pub(super) terminator: &'static [u8],
}

/// Reveals whether another program has written to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TranscriptStamp {
    pub(super) len: u64,
    modified: Option<SystemTime>,
}

/// A line that is not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ForeignLine {
    pub(super) line: u32,
    /// Offset, and length without the terminator.
    pub(super) at: u64,
    pub(super) len: u64,
}

/// A line read so far.
#[derive(Debug, Default)]
struct PartialLine {
    head: Vec<u8>,
    last: Option<u8>,
    len: u64,
    has_nul: bool,
}

impl TranscriptStamp {
    pub(super) fn from_metadata(meta: &std::fs::Metadata) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok() }
    }
}

impl TranscriptScan {
    /// Scans a file; a missing one is empty.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let mut file = match open_regular(path, FinalLink::Refuse) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error),
        };
        let mut scan =
            Self { stamp: TranscriptStamp::from_metadata(&file.metadata()?), ..Self::default() };
        let mut open = PartialLine::default();
        let mut at = 0;
        // Ignore data appended meanwhile.
        let mut reader = BufReader::with_capacity(64 * 1024, (&file).take(scan.stamp.len));
        loop {
            let read = reader.fill_buf()?;
            if read.is_empty() {
                break;
            }
            for chunk in read.split_inclusive(|byte| *byte == b'\n') {
                at += open.push_bytes(chunk);
                if chunk.ends_with(b"\n") {
                    let begun = at - 1 - open.len;
                    scan.add_line(&open, begun);
                    open = PartialLine::default();
                }
            }
            let len = read.len();
            reader.consume(len);
        }
        if open.len > 0 {
            scan.add_unterminated(&open, at - open.len, &mut file)?;
        }
        Ok(scan)
    }

    pub(super) fn find_line(&self, id: &EventId) -> Option<u32> {
        self.ids.get(&hash_id(id)).copied()
    }

    /// Number of distinct events.
    pub(super) fn event_count(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Number of entries in memory.
    pub(super) fn entry_count(&self) -> usize {
        self.ids.len() + self.foreign.len()
    }

    /// Records that an event was appended as the next line.
    pub(super) fn record_event(&mut self, id: &EventId) {
        self.lines = self.lines.saturating_add(1);
        self.ids.insert(hash_id(id), self.lines);
    }

    fn add_line(&mut self, line: &PartialLine, at: u64) {
        self.lines = self.lines.saturating_add(1);
        // For a duplicate event, the first line counts.
        let number = self.lines;
        match line.event_id() {
            Some(id) if !self.ids.contains_key(&hash_id(&id)) => {
                self.ids.insert(hash_id(&id), number);
            }
            _ => self.foreign.push(ForeignLine { line: number, at, len: line.len }),
        }
    }

    /// Adds the last line, which is unterminated: a complete event, or torn.
    fn add_unterminated(
        &mut self,
        line: &PartialLine,
        at: u64,
        file: &mut File,
    ) -> std::io::Result<()> {
        self.terminator = b"\n";
        if line.event_id().is_some() {
            if is_valid_json(file, at, line.len)? {
                self.add_line(line, at);
                return Ok(());
            }
            self.terminator = b" \n";
        }
        self.lines = self.lines.saturating_add(1);
        self.foreign.push(ForeignLine { line: self.lines, at, len: line.len });
        Ok(())
    }
}

impl PartialLine {
    /// Adds bytes of the line and returns how many.
    fn push_bytes(&mut self, chunk: &[u8]) -> u64 {
        let text = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        let bytes_left = HEAD_BYTES.saturating_sub(self.head.len()).min(text.len());
        self.head.extend(text.iter().take(bytes_left));
        self.last = text.last().copied().or(self.last);
        self.len += text.len() as u64;
        self.has_nul |= text.contains(&0);
        chunk.len() as u64
    }

    /// Id of the event, if the line is one.
    fn event_id(&self) -> Option<EventId> {
        let is_whole = self.last == Some(b'}') && !self.has_nul;
        is_whole.then(|| parse_event_id(&self.head)).flatten()
    }
}

pub(super) fn parse_event_id(head: &[u8]) -> Option<EventId> {
    let behind = head.strip_prefix(EVENT_PREFIX)?;
    let id: String = serde_json::Deserializer::from_slice(behind).into_iter().next()?.ok()?;
    EventId::parse(&id).ok()
}

fn is_valid_json(file: &mut File, at: u64, len: u64) -> std::io::Result<bool> {
    if len > UNTERMINATED_BYTES_MAX {
        return Ok(false);
    }
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut line)?;
    Ok(serde_json::from_slice::<IgnoredAny>(&line).is_ok())
}

/// Half of a hash, which saves two thirds of the memory; collisions are negligible.
fn hash_id(id: &EventId) -> u128 {
    let hash = blake3::hash(id.as_str().as_bytes());
    hash.as_bytes().first_chunk::<16>().map_or(0, |half| u128::from_be_bytes(*half))
}
