//! Scans a session's `messages.jsonl` line by line.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use memchr::memmem;
use tome_finder::{Key, Source};

use super::heard::Heard;
use super::limits::LINE_BYTES_MAX;
use super::seen::{About, Scanning, allows, part_of, shown};
use super::{Hunt, Scan, Seen};
use crate::RecallError;
use tome_home::HomeError;
use tome_home::{FinalLink, open_regular};

const BUFFER_BYTES: usize = 128 * 1024;

/// Owner of the scanned records.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Owner<'a> {
    /// Root folder of the project; empty for the coder's notebook.
    pub project: &'a str,
    /// Empty if there is none.
    pub session: &'a str,
}

/// Scans the lines of a transcript; a missing file has none. Metadata missing from a line is taken
/// from the owner.
pub(crate) fn scan_messages(
    path: &Path,
    owner: Owner<'_>,
    hunt: Hunt<'_>,
) -> Result<Scan, RecallError> {
    let mut scanning = Scanning::new(hunt);
    let file = match open_regular(path, FinalLink::Refuse) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(scanning.done()),
        file => file.map_err(HomeError::file("read", path))?,
    };
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let quick = hunt.needle.is_plain();
    let (mut line, mut number) = (Vec::new(), 0_u32);
    loop {
        let more = next_line(&mut reader, &mut line).map_err(HomeError::file("read", path))?;
        if !more || !scanning.goes_on(line.len()) {
            return Ok(scanning.done());
        }
        number = number.saturating_add(1);
        scanning.looked();
        let text = String::from_utf8_lossy(&line);
        if !text.is_empty() && (!quick || may_say(&hunt, &text)) {
            look_at_line(&mut scanning, owner, number, &text);
        }
    }
}

/// Reads a line without its terminator, truncated if very long. Returns `false` at the end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let mut has_begun = false;
    loop {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(has_begun);
        }
        has_begun = true;
        let end = memchr::memchr(b'\n', bytes);
        let (used, keep) = end.map_or((bytes.len(), bytes.len()), |end| (end + 1, end));
        let room = LINE_BYTES_MAX.saturating_sub(line.len());
        line.extend(bytes.iter().take(keep.min(room)));
        reader.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(true);
        }
    }
}

/// Cheap check whether a line may match: it contains a term, or has escapes that may hide one.
fn may_say(hunt: &Hunt<'_>, line: &str) -> bool {
    let bytes = line.as_bytes();
    // Escaped control characters are never part of a term.
    let is_telling =
        |at: usize| !bytes.get(at + 2..at + 5).is_some_and(|it| it == b"000" || it == b"001");
    memmem::find_iter(bytes, b"\\u").any(is_telling) || hunt.needle.touches(line)
}

fn look_at_line(scanning: &mut Scanning<'_>, owner: Owner<'_>, line: u32, text: &str) {
    let mut heard = Heard::of(text);
    if heard.session.is_empty() {
        owner.session.clone_into(&mut heard.session);
    }
    let about = About {
        at: heard.at,
        project: owner.project,
        session: &heard.session,
        agents: &[heard.agent.as_str()],
        kind: &heard.kind,
    };
    if !allows(scanning.hunt.filter, Source::Event, &about) {
        return;
    }
    let Some(look) = scanning.hunt.needle.look(&heard.text) else { return };
    scanning.found(heard.at, look, |look| Seen {
        key: Key::Named(heard.id),
        source: Source::Event,
        at: heard.at,
        line,
        project: owner.project.to_owned(),
        session: heard.session,
        agent: heard.agent,
        kind: heard.kind,
        title: String::new(),
        part: part_of(&look, 0),
        snippet: shown(&heard.text, &look),
        look,
    });
}
