//! Scans a session's `messages.jsonl` line by line.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use memchr::memmem;
use tome_finder::{EntryKey, RecordKind, RecordMeta};

use super::limits::LINE_BYTES_MAX;
use super::line_text::LineText;
use super::scan::{ScanState, build_snippet, match_range};
use super::{Scan, ScanMatch, ScanQuery};
use crate::RecallError;
use tome_home::HomeError;
use tome_home::{FinalLink, open_regular};

const BUFFER_BYTES: usize = 128 * 1024;

/// Owner of the scanned records.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TranscriptOwner<'a> {
    /// Root folder of the project; empty for the coder's notebook.
    pub project: &'a str,
    /// Empty if there is none.
    pub session: &'a str,
}

/// Scans the lines of a transcript; a missing file has none. Metadata missing from a line is taken
/// from the owner.
pub(crate) fn scan_messages(
    path: &Path,
    owner: TranscriptOwner<'_>,
    scan_query: ScanQuery<'_>,
) -> Result<Scan, RecallError> {
    let mut scanning = ScanState::new(scan_query);
    let file = match open_regular(path, FinalLink::Refuse) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(scanning.finish()),
        file => file.map_err(HomeError::file("read", path))?,
    };
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let quick = scan_query.matcher.is_plain_in_json();
    let (mut line, mut number) = (Vec::new(), 0_u32);
    loop {
        let more = read_next_line(&mut reader, &mut line).map_err(HomeError::file("read", path))?;
        if !more || !scanning.should_continue(line.len()) {
            return Ok(scanning.finish());
        }
        number = number.saturating_add(1);
        scanning.count_scanned();
        let text = String::from_utf8_lossy(&line);
        if !text.is_empty() && (!quick || may_match(&scan_query, &text)) {
            match_line(&mut scanning, owner, number, &text);
        }
    }
}

/// Reads a line without its terminator, truncated if very long. Returns `false` at the end.
fn read_next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
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
        let bytes_left = LINE_BYTES_MAX.saturating_sub(line.len());
        line.extend(bytes.iter().take(keep.min(bytes_left)));
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
fn may_match(scan_query: &ScanQuery<'_>, line: &str) -> bool {
    let bytes = line.as_bytes();
    // Escaped control characters are never part of a term.
    let is_telling =
        |at: usize| !bytes.get(at + 2..at + 5).is_some_and(|it| it == b"000" || it == b"001");
    memmem::find_iter(bytes, b"\\u").any(is_telling) || scan_query.matcher.contains_any(line)
}

fn match_line(scanning: &mut ScanState<'_>, owner: TranscriptOwner<'_>, line: u32, text: &str) {
    let mut parsed = LineText::parse(text);
    if parsed.session.is_empty() {
        owner.session.clone_into(&mut parsed.session);
    }
    let about = RecordMeta {
        source: RecordKind::Event,
        at: parsed.at,
        project: owner.project,
        session: &parsed.session,
        agents: &[parsed.agent.as_str()],
        kind: &parsed.kind,
    };
    if !scanning.query.filter.admits(&about) {
        return;
    }
    let Some(text_match) = scanning.query.matcher.match_text(&parsed.text) else { return };
    scanning.add_match(parsed.at, text_match, |text_match| ScanMatch {
        key: EntryKey::Named(parsed.id),
        source: RecordKind::Event,
        at: parsed.at,
        line,
        project: owner.project.to_owned(),
        session: parsed.session,
        agent: parsed.agent,
        kind: parsed.kind,
        title: String::new(),
        range: match_range(&text_match, 0),
        snippet: build_snippet(&parsed.text, &text_match),
        text_match,
    });
}
