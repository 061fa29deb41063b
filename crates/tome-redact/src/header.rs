//! `Authorization` headers and bare bearer tokens.

use super::base64::is_encoded_login;
use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_base64_byte, is_quote};
use super::name::NameStrength;
use super::randomness::{is_random, is_uuid};
use super::value::{self, ValueContext};
use super::value_span::find_value;

const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "digest",
    "apikey",
    "api-key",
    "key",
    "ssws",
    "bot",
    "negotiate",
    "ntlm",
    "hawk",
    "dpop",
    "splunk",
    "genie",
    "gogs",
    "zoho-oauthtoken",
];

/// Bytes of credentials that are examined.
const CREDENTIALS_BYTES_MAX: usize = 4096;

/// The credentials after `Authorization`, which ends at `from`.
pub(crate) fn find_authorization(hay: Haystack<'_>, from: usize) -> Option<RedactionCut<'static>> {
    let quote =
        hay.skip_while_within(from, 16, |b| is_quote(b) || matches!(b, b'\\' | b']' | b' '));
    if !matches!(hay.byte_at(quote), b':' | b'=' | b',') {
        return None;
    }
    let start = hay.skip_while_within(quote + 1, 64, |b| {
        matches!(b, b' ' | b'\t' | b'\\' | b'>') || is_quote(b)
    });
    let scheme_end = hay.skip_while_within(start, 64, |b| b.is_ascii_alphabetic() || b == b'-');
    let scheme = hay.slice(start, scheme_end);
    let known = SCHEMES.iter().any(|one| one.eq_ignore_ascii_case(scheme));
    let value = skip_gap(hay, scheme_end);
    if known && value > scheme_end {
        let end = find_credentials_end(hay, value);
        let text = hay.slice(value, end);
        return is_credentials(hay, text, end).then(|| bearer_cut(value, end));
    }
    // A vendor-specific scheme with credentials that cannot be a word.
    if scheme_end > start && value > scheme_end {
        let end = find_credentials_end(hay, value);
        let text = hay.slice(value, end);
        if is_random(text) || is_uuid(text) {
            return Some(bearer_cut(value, end));
        }
    }
    let value = find_value(hay, start)?;
    let text = hay.slice(value.start, value.end);
    let context = if value.quoted { ValueContext::Quoted } else { ValueContext::Loose };
    value::is_secret(text, context, NameStrength::Ambiguous)
        .then(|| bearer_cut(value.start, value.find_real_end(hay)))
}

/// A long token after a lone `Bearer` or `Basic`, which ends at `from`.
pub(crate) fn find_scheme_credentials(
    hay: Haystack<'_>,
    at: usize,
    from: usize,
) -> Option<RedactionCut<'static>> {
    const BYTES_MIN: usize = 16;
    const LOGIN_BYTES_MIN: usize = 12;
    let value = skip_gap(hay, from);
    if !hay.is_word_start(at) || value == from {
        return None;
    }
    let end = find_credentials_end(hay, value);
    let text = hay.slice(value, end);
    let mixed =
        text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic());
    let basic = hay.starts_with_ignore_case(at, "basic");
    if basic && text.len() >= LOGIN_BYTES_MIN && is_encoded_login(text) {
        return Some(bearer_cut(value, end));
    }
    let fits =
        text.len() >= BYTES_MIN && !text.contains("://") && !value::is_placeholder(text) && mixed;
    (fits && (!basic || is_random(text))).then(|| bearer_cut(value, end))
}

fn bearer_cut(start: usize, end: usize) -> RedactionCut<'static> {
    cut_as(start, end, "bearer")
}

fn cut_as(start: usize, end: usize, kind: &'static str) -> RedactionCut<'static> {
    RedactionCut::secret(start, end, kind, CutCertainty::SecretPosition)
}

/// Skips the blanks between a scheme and its credentials, including `%20`.
fn skip_gap(hay: Haystack<'_>, from: usize) -> usize {
    let mut at = hay.skip_blanks(from);
    while hay.starts_with(at, "%20") {
        at += 3;
    }
    at
}

fn find_credentials_end(hay: Haystack<'_>, start: usize) -> usize {
    let end = hay.skip_while_within(start, CREDENTIALS_BYTES_MAX, |b| {
        is_base64_byte(b) || matches!(b, b'.' | b'~' | b':' | b'%')
    });
    hay.skip_back_while(end, end - start, |b| matches!(b, b'.' | b':'))
}

/// In a header nearly everything is a credential, but prose mentions headers too.
fn is_credentials(hay: Haystack<'_>, text: &str, end: usize) -> bool {
    const BYTES_MIN: usize = 6;
    let small = text.bytes().all(|b| b.is_ascii_lowercase());
    let spoken = small
        && (text.len() < 8
            || matches!(hay.byte_at(end), b' ')
            || super::word_lists::is_harmless_word(text));
    // `README.md`, `src/lib.rs:42`.
    let named = text.contains(['.', '/']) && value::is_made_of_words(text);
    text.len() >= BYTES_MIN
        && !spoken
        && !named
        && !value::is_placeholder(text)
        && value::is_secret(text, ValueContext::Quoted, NameStrength::Certain)
}
