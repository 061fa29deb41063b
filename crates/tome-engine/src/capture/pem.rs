//! PEM private keys: from `-----BEGIN … PRIVATE KEY-----` to its `-----END … -----`.
//!
//! The block may be in a text inside a text (its line breaks written `\n`), numbered by a pager,
//! quoted line by line in source code, or cut off. One that is cut off goes to the end of its
//! base64. A header with no key behind it is somebody writing about keys, and stays.

use super::cut::{Cut, Sure};
use super::scan::Scan;

/// Nobody's key is longer, written with line numbers and quotes around every line.
const BLOCK_BYTES_MAX: usize = 32 * 1024;
/// A line of base64 is at least this long, but for the last.
const LINE_BYTES_MIN: usize = 16;

/// The private key whose header begins here.
pub(super) fn at_begin(scan: Scan<'_>, at: usize) -> Option<Cut<'static>> {
    let label = at + "-----BEGIN".len();
    let header_end = scan.run(label, is_label);
    if !scan.part(label, header_end).contains("PRIVATE KEY") || !scan.starts(header_end, "----") {
        return None;
    }
    let body = scan.run(header_end, |b| b == b'-');
    let end = closed_end(scan, body).or_else(|| open_end(scan, body))?;
    Some(Cut::secret(at, end, "private-key", Sure::Prefixed))
}

/// The end of a PuTTY private key's lines, which follow a line that counts them.
pub(super) fn at_putty(scan: Scan<'_>, at: usize) -> Option<Cut<'static>> {
    let count = scan.skip_blanks(at + "Private-Lines:".len());
    let body = scan.run(count, |b| b.is_ascii_digit());
    let end = open_end(scan, body)?;
    let start = skip_between(scan, body);
    (body > count).then(|| Cut::secret(start, end, "private-key", Sure::Prefixed))
}

fn is_label(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
}

fn is_pem_body(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Where the block's own end line ends, if what lies between is a key.
fn closed_end(scan: Scan<'_>, body: usize) -> Option<usize> {
    let reach = tome_model::floor_boundary(scan.0, body + BLOCK_BYTES_MAX);
    let inside = scan.part(body, reach);
    let end_line = body + inside.find("-----END")?;
    let before_it = scan.part(body, end_line);
    if before_it.contains("-----BEGIN") || !holds_key(before_it) {
        return None;
    }
    let label_end = scan.run(end_line + "-----END".len(), is_label);
    Some(scan.run(label_end, |b| b == b'-'))
}

/// Whether a key lies in this text: some line of base64, or nothing but base64 and line breaks.
fn holds_key(text: &str) -> bool {
    let long = text
        .split(|c: char| !c.is_ascii() || !is_pem_body(c as u8))
        .any(|run| run.len() >= 2 * LINE_BYTES_MIN);
    let bare = text.replace("\\r", " ").replace("\\n", " ");
    long || !bare.trim().is_empty()
        && bare.bytes().all(|b| is_pem_body(b) || b.is_ascii_whitespace())
        && bare.split_ascii_whitespace().count() <= 2
}

/// Where the base64 of a block that is cut off ends.
fn open_end(scan: Scan<'_>, body: usize) -> Option<usize> {
    let mut end = None;
    let mut at = skip_headers(scan, body);
    loop {
        let line = skip_between(scan, at);
        let line_end = scan.run(line, is_pem_body);
        let text = scan.part(line, line_end);
        // The last line may be short; a word of the prose behind the key is small letters.
        let short_last = end.is_some()
            && !text.is_empty()
            && text.bytes().any(|b| !b.is_ascii_lowercase())
            && text.bytes().skip(1).any(|b| !b.is_ascii_lowercase());
        if text.len() < LINE_BYTES_MIN {
            return if short_last { Some(line_end) } else { end };
        }
        end = Some(line_end);
        at = line_end;
    }
}

/// `Proc-Type: 4,ENCRYPTED` and `DEK-Info: …` stand between the header and the key.
fn skip_headers(scan: Scan<'_>, body: usize) -> usize {
    let mut at = body;
    loop {
        let line = skip_between(scan, at);
        let known = ["Proc-Type:", "DEK-Info:", "Comment:", "Version:"];
        if !known.iter().any(|name| scan.starts(line, name)) {
            return at;
        }
        at = scan.run(line, |b| !matches!(b, b'\n' | b'\r' | b'\\' | b'"'));
    }
}

/// Skips what may stand between two lines of a key: line breaks real or written, indentation,
/// quotes and the signs that join strings, the marks of diffs, quotations and pagers.
fn skip_between(scan: Scan<'_>, from: usize) -> usize {
    let mut at = from;
    loop {
        let next = match scan.byte(at) {
            b'\\' if matches!(scan.byte(at + 1), b'n' | b'r' | b't') => at + 2,
            b'\\' | b'"' | b'\'' | b'`' | b',' | b'|' | b'>' | b'#' | b'*' | b'-' | b':' => at + 1,
            // A plus sign is base64 as well; one with something else behind it is not.
            b'+' if !is_pem_body(scan.byte(at + 1)) || is_line_start(scan, at) => at + 1,
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            0xE2 if scan.starts(at, "→") || scan.starts(at, "│") => at + 3,
            b'0'..=b'9' => skip_line_number(scan, at),
            _ => at,
        };
        // An end line is the end of the key, not something between its lines.
        if next == at || scan.starts(at, "-----") {
            return at;
        }
        at = next;
    }
}

fn is_line_start(scan: Scan<'_>, at: usize) -> bool {
    matches!(scan.before(at), b'\n' | 0)
}

/// The number that a pager puts before a line is followed by a tab, an arrow, a bar or a colon.
fn skip_line_number(scan: Scan<'_>, at: usize) -> usize {
    let end = scan.run(at, |b| b.is_ascii_digit());
    let follows = matches!(scan.byte(end), b'\t' | b'|' | b':' | b' ') || scan.byte(end) == 0xE2;
    if end - at <= 6 && follows { end } else { at }
}
