//! `Authorization` headers, bare bearer tokens, and the credentials that curl is given.

use super::cut::{Cut, Sure};
use super::extent::extent;
use super::name::Weight;
use super::randomness::is_random;
use super::scan::{Scan, is_base64, is_quote};
use super::value::{self, Setting};

const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "apikey", "api-key", "key"];

/// The credentials behind `Authorization`, which ends at `from`.
pub(super) fn at_authorization(scan: Scan<'_>, from: usize) -> Option<Cut<'static>> {
    let quote = scan.run(from, |b| is_quote(b) || matches!(b, b'\\' | b']' | b' '));
    if !matches!(scan.byte(quote), b':' | b'=' | b',') {
        return None;
    }
    let start = scan.run(quote + 1, |b| matches!(b, b' ' | b'\t' | b'\\' | b'>') || is_quote(b));
    let scheme_end = scan.run(start, |b| b.is_ascii_alphabetic() || b == b'-');
    let scheme = scan.part(start, scheme_end);
    let known = SCHEMES.iter().any(|one| one.eq_ignore_ascii_case(scheme));
    let value = skip_gap(scan, scheme_end);
    if known && value > scheme_end {
        let end = credentials_end(scan, value);
        let text = scan.part(value, end);
        return is_credentials(scan, text, end).then(|| cut(value, end));
    }
    let value = extent(scan, start)?;
    let text = scan.part(value.start, value.end);
    let setting = if value.quoted { Setting::Quoted } else { Setting::Loose };
    value::is_secret(text, setting, Weight::Faint).then(|| cut(value.start, value.end_in(scan)))
}

/// A long token behind a lone `Bearer` or `Basic`, which ends at `from`.
pub(super) fn at_scheme(scan: Scan<'_>, at: usize, from: usize) -> Option<Cut<'static>> {
    const BYTES_MIN: usize = 16;
    let value = skip_gap(scan, from);
    if !scan.is_open(at) || value == from {
        return None;
    }
    let end = credentials_end(scan, value);
    let text = scan.part(value, end);
    let mixed =
        text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic());
    let basic = scan.starts_caseless(at, "basic");
    let fits =
        text.len() >= BYTES_MIN && !text.contains("://") && !value::is_blank_form(text) && mixed;
    (fits && (!basic || is_random(text))).then(|| cut(value, end))
}

/// `curl -u user:password`, with the option at `at` and what it is given at `from`.
pub(super) fn at_user_option(scan: Scan<'_>, at: usize, from: usize) -> Option<Cut<'static>> {
    let line = scan.run_back(at, 1024, |b| b != b'\n');
    let command = scan.part(tome_model::floor_boundary(scan.0, line), at + 1);
    if !["curl ", "wget ", "http "].iter().any(|tool| command.contains(tool)) {
        return None;
    }
    let given = extent(scan, scan.run(from, |b| matches!(b, b' ' | b'=')))?;
    let user = scan.run(given.start, |b| b != b':');
    let password = scan.part(user + 1, given.end);
    let is_secret = user < given.end && !password.is_empty() && !value::is_blank_form(password);
    is_secret.then(|| cut_as(user + 1, given.end, "password"))
}

fn cut(start: usize, end: usize) -> Cut<'static> {
    cut_as(start, end, "bearer")
}

fn cut_as(start: usize, end: usize, kind: &'static str) -> Cut<'static> {
    Cut::secret(start, end, kind, Sure::Placed)
}

/// The blanks between a scheme and its credentials, also as an address writes them.
fn skip_gap(scan: Scan<'_>, from: usize) -> usize {
    let mut at = scan.skip_blanks(from);
    while scan.starts(at, "%20") {
        at += 3;
    }
    at
}

fn credentials_end(scan: Scan<'_>, start: usize) -> usize {
    let end = scan.run(start, |b| is_base64(b) || matches!(b, b'.' | b'~' | b':' | b'%'));
    scan.run_back(end, end - start, |b| matches!(b, b'.' | b':'))
}

/// In a header nearly everything is a credential, but people also write about headers.
fn is_credentials(scan: Scan<'_>, text: &str, end: usize) -> bool {
    const BYTES_MIN: usize = 6;
    let small = text.bytes().all(|b| b.is_ascii_lowercase());
    let spoken = small
        && (text.len() < 8 || matches!(scan.byte(end), b' ') || super::words::is_harmless(text));
    // `README.md`, `src/lib.rs:42`.
    let named = text.contains(['.', '/']) && value::is_wordy(text);
    text.len() >= BYTES_MIN
        && !spoken
        && !named
        && !value::is_blank_form(text)
        && value::is_secret(text, Setting::Quoted, Weight::Firm)
}
