//! PEM private keys: from `-----BEGIN … PRIVATE KEY-----` to `-----END … -----`.
//!
//! The block may be inside another text (with escaped line breaks), numbered by a pager, quoted
//! line by line in source code, or truncated. A truncated block ends with its base64. A header
//! without a key is prose about keys and stays.

use super::base64::decode_prefix;
use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_word_byte};

/// Length of a label such as `RSA PRIVATE KEY`.
const LABEL_BYTES_MAX: usize = 96;
/// Length of a key, even with line numbers and quotes around every line.
const BLOCK_BYTES_MAX: usize = 32 * 1024;
/// Length of a base64 line, except the last.
const LINE_BYTES_MIN: usize = 16;

/// The private key whose header begins here; the header's literal ends at `label`.
pub(crate) fn find_pem_block(
    hay: Haystack<'_>,
    at: usize,
    label: usize,
) -> Option<RedactionCut<'static>> {
    let header_end = hay.skip_while_within(label, LABEL_BYTES_MAX, is_label_byte);
    let name = hay.slice(label, header_end).replace("%20", " ").replace('+', " ");
    // Formats other than PEM have a longer literal.
    let is_ssh2 = label - at > "-----BEGIN".len();
    let is_private = name.contains("PRIVATE KEY") || name.contains("Static key") || is_ssh2;
    if !is_private || !hay.starts_with(header_end, "----") {
        return None;
    }
    let body = hay.skip_while(header_end, |b| b == b'-');
    let end = find_closed_end(hay, body).or_else(|| find_open_end(hay, body))?;
    Some(RedactionCut::secret(at, end, "private-key", CutCertainty::KnownPrefix))
}

/// The base64 of a private key without its header, recognized by its first bytes.
pub(crate) fn find_pem_body(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    const BODY_BYTES_MIN: usize = 60;
    /// Bytes that encode the key's length, before those that are the same for all keys.
    const OFFSET_MAX: usize = 28;
    let start = hay.skip_back_while(at, OFFSET_MAX + 1, is_pem_byte);
    let start = if hay.is_after_escape(start + 1) { start + 1 } else { start };
    if at - start > OFFSET_MAX || !has_key_prefix(hay, start) {
        return None;
    }
    let end = find_wrapped_end(hay, start);
    (end - start >= BODY_BYTES_MIN)
        .then(|| RedactionCut::secret(start, end, "private-key", CutCertainty::KnownPrefix))
}

fn has_key_prefix(hay: Haystack<'_>, start: usize) -> bool {
    ["MII", "MIG", "MIH", "MHcCAQEE", "MC4CAQAw", "MFECAQEw", "b3BlbnNzaC1rZXktdjE"]
        .iter()
        .any(|prefix| hay.starts_with(start, prefix))
}

/// A PEM private key that is base64-encoded once more, as Kubernetes and others store it.
pub(crate) fn find_encoded_pem(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    const HEADER_BYTES: usize = 64;
    if !hay.starts_with(at, "LS0tLS1CRUdJTi") {
        return None;
    }
    let decoded = decode_prefix(hay.bytes_from(at), HEADER_BYTES);
    let header = String::from_utf8_lossy(&decoded);
    if !header.contains("PRIVATE KEY") {
        return None;
    }
    let end = find_wrapped_end(hay, at);
    Some(RedactionCut::secret(at, end, "private-key", CutCertainty::KnownPrefix))
}

/// The end of base64 that may be wrapped into lines. All lines but the last are long.
fn find_wrapped_end(hay: Haystack<'_>, start: usize) -> usize {
    const LONG_BYTES_MIN: usize = 40;
    let mut line = start;
    let mut end = start;
    loop {
        let line_end = hay.skip_while(line, |b| is_pem_byte(b) || is_word_byte(b));
        let text = hay.slice(line, line_end);
        let long = text.len() >= LONG_BYTES_MIN;
        // The last line may be short; a lower-case word is prose after the key.
        let is_last = text.bytes().skip(1).any(|b| !b.is_ascii_lowercase());
        if end > start && !long && !is_last {
            return end;
        }
        end = line_end;
        let next = skip_line_separators(hay, line_end);
        let broken = hay.slice(line_end, next).contains(['\n', '\r'])
            || hay.slice(line_end, next).contains("\\n");
        if !long || !broken || hay.starts_with(next, "----") {
            return end;
        }
        line = next;
    }
}

/// A hex-encoded PEM private key.
pub(crate) fn find_hex_pem(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    let end = hay.skip_while(at, |b| b.is_ascii_hexdigit());
    let header = hay.slice(at, (at + 128).min(end)).to_ascii_lowercase();
    // Hex of `PRIVATE KEY`.
    header
        .contains("50524956415445204b4559")
        .then(|| RedactionCut::secret(at, end, "private-key", CutCertainty::KnownPrefix))
}

/// A private member of a JSON Web Key (`"d"`, the primes), provided that `"kty"` is nearby.
pub(crate) fn find_jwk_value(
    hay: Haystack<'_>,
    at: usize,
    end: usize,
) -> Option<RedactionCut<'static>> {
    const VALUE_BYTES_MIN: usize = 20;
    const NEAR_BYTES_MAX: usize = 1024;
    let closed = hay.skip_while_within(end, 4, |b| b == b'"' || b == b'\\');
    let sign = hay.skip_blanks(closed);
    let quote = hay.skip_blanks(sign + 1);
    let value = hay.skip_while_within(quote, 4, |b| b == b'"' || b == b'\\');
    if hay.byte_at(sign) != b':' || value == quote {
        return None;
    }
    let value_end = hay.skip_while_within(value, 8192, is_word_byte);
    if value_end - value < VALUE_BYTES_MIN || !matches!(hay.byte_at(value_end), b'"' | b'\\') {
        return None;
    }
    let from = hay.floor_boundary(at.saturating_sub(NEAR_BYTES_MAX));
    let to = hay.floor_boundary(value_end + NEAR_BYTES_MAX);
    hay.slice(from, to).contains("\"kty").then(|| {
        RedactionCut::secret(value, value_end, "private-key", CutCertainty::SecretPosition)
    })
}

/// The lines of a PuTTY private key, which follow the line that counts them.
pub(crate) fn find_putty_key(hay: Haystack<'_>, at: usize) -> Option<RedactionCut<'static>> {
    let count = hay.skip_blanks(at + "Private-Lines:".len());
    let body = hay.skip_while(count, |b| b.is_ascii_digit());
    let end = find_open_end(hay, body)?;
    let start = skip_line_separators(hay, body);
    (body > count)
        .then(|| RedactionCut::secret(start, end, "private-key", CutCertainty::KnownPrefix))
}

fn is_label_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b' ' | b'%' | b'+')
}

fn is_pem_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// The end of the block's end line, if there is a key before it.
fn find_closed_end(hay: Haystack<'_>, body: usize) -> Option<usize> {
    let reach = hay.floor_boundary(body + BLOCK_BYTES_MAX);
    let inside = hay.slice(body, reach);
    // The next dashes belong to the end line, or another block begins.
    let end_line = body + memchr::memmem::find(inside.as_bytes(), b"----")?;
    let label = hay.skip_while_within(end_line, 8, |b| b == b'-' || b == b' ');
    let before_it = hay.slice(body, end_line);
    if !hay.starts_with(label, "END") || !contains_key(before_it) {
        return None;
    }
    let label_end = hay.skip_while_within(label, LABEL_BYTES_MAX, is_label_byte);
    Some(hay.skip_while(label_end, |b| b == b'-'))
}

/// Whether a text contains a key: a long run of base64, or nothing but base64 and line breaks.
fn contains_key(text: &str) -> bool {
    let long = text
        .split(|c: char| !c.is_ascii() || !is_pem_byte(c as u8))
        .any(|run| run.len() >= 2 * LINE_BYTES_MIN);
    let bare = text.replace("\\r", " ").replace("\\n", " ");
    long || !bare.trim().is_empty()
        && bare.bytes().all(|b| is_pem_byte(b) || b.is_ascii_whitespace())
        && bare.split_ascii_whitespace().count() <= 2
}

/// The end of the base64 of a block without an end line.
fn find_open_end(hay: Haystack<'_>, body: usize) -> Option<usize> {
    let mut end = None;
    let mut at = skip_headers(hay, body);
    loop {
        let line = skip_line_separators(hay, at);
        let line_end = hay.skip_while(line, is_pem_byte);
        let text = hay.slice(line, line_end);
        // The last line may be short; a lower-case word is prose after the key.
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

/// Skips headers such as `Proc-Type: 4,ENCRYPTED` and `DEK-Info: …` before the key.
fn skip_headers(hay: Haystack<'_>, body: usize) -> usize {
    let mut at = body;
    loop {
        let line = skip_line_separators(hay, at);
        let known = ["Proc-Type:", "DEK-Info:", "Comment:", "Version:"];
        if !known.iter().any(|name| hay.starts_with(line, name)) {
            return at;
        }
        at = hay.skip_while(line, |b| !matches!(b, b'\n' | b'\r' | b'\\' | b'"'));
    }
}

/// Skips what may separate two lines of a key: line breaks (real or escaped), indentation, quotes,
/// string concatenation, and the markers of diffs, quotations and pagers.
fn skip_line_separators(hay: Haystack<'_>, from: usize) -> usize {
    let mut at = from;
    loop {
        let next = match hay.byte_at(at) {
            b'\\' if matches!(hay.byte_at(at + 1), b'n' | b'r' | b't') => at + 2,
            // `%0A`, `%0D`
            b'%' if hay.byte_at(at + 1) == b'0' => at + 3,
            b'\\' | b'"' | b'\'' | b'`' | b',' | b'|' | b'>' | b'#' | b'*' | b'-' | b':' => at + 1,
            // A plus sign may be base64; one followed by anything else is not.
            b'+' if !is_pem_byte(hay.byte_at(at + 1)) || is_line_start(hay, at) => at + 1,
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            0xE2 if hay.starts_with(at, "→") || hay.starts_with(at, "│") => at + 3,
            b'0'..=b'9' => skip_line_number(hay, at),
            _ => at,
        };
        // The end line ends the key.
        if next == at || hay.starts_with(at, "-----") {
            return at;
        }
        at = next;
    }
}

fn is_line_start(hay: Haystack<'_>, at: usize) -> bool {
    matches!(hay.byte_before(at), b'\n' | 0)
}

/// Skips a pager's line number, which is followed by a tab, an arrow, a bar or a colon.
fn skip_line_number(hay: Haystack<'_>, at: usize) -> usize {
    let end = hay.skip_while(at, |b| b.is_ascii_digit());
    let follows =
        matches!(hay.byte_at(end), b'\t' | b'|' | b':' | b' ') || hay.byte_at(end) == 0xE2;
    if end - at <= 6 && follows { end } else { at }
}
