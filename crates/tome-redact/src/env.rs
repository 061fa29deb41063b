//! Environment variables: `NAME=value` with a random value, whatever the name.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_quote};
use super::randomness::{is_hex, is_random, is_uuid};
use super::value_span::find_value;

/// Shorter values are names, versions or regions.
const VALUE_BYTES_MIN: usize = 20;
const NAME_BYTES_MAX: usize = 96;

/// The secret after this `=`, if it follows an upper-case name.
pub(crate) fn find_env_value(hay: Haystack<'_>, equals: usize) -> Option<RedactionCut<'static>> {
    let start = hay.skip_back_while(equals, NAME_BYTES_MAX, is_env_name_byte);
    let name = hay.slice(start, equals);
    let opens = name.len() >= 2 && !name.starts_with(|c: char| c.is_ascii_digit());
    if !opens || !is_variable_position(hay, start) {
        return None;
    }
    let value = find_value(hay, equals + 1)?;
    let text = hay.slice(value.start, value.end);
    is_secret_value(name, text).then(|| {
        RedactionCut::secret(
            value.start,
            value.find_real_end(hay),
            "env",
            CutCertainty::LooksRandom,
        )
    })
}

fn is_env_name_byte(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'
}

/// Whether a variable can be set here: at the start of a line or a quoted string, or after
/// whitespace.
fn is_variable_position(hay: Haystack<'_>, start: usize) -> bool {
    let before = hay.byte_before(start);
    before <= b' '
        || is_quote(before)
        || matches!(before, b';' | b',' | b'[' | b'{' | b'(' | b'&')
        || hay.is_after_escape(start)
}

fn is_secret_value(name: &str, value: &str) -> bool {
    let elsewhere = value.contains("://")
        || value.starts_with(['/', '~', '.', '$', '-', '<', '{', '('])
        || value.contains(['`', '<', '>', '$', ' ', '\\', '*', '(', ';', ','])
        || value.contains(":/")
        || value.starts_with("sha")
        || value.contains("sha256:");
    let fingerprint = is_uuid(value) || is_hex(value) && is_fingerprint_name(name);
    value.len() >= VALUE_BYTES_MIN && !elsewhere && !fingerprint && is_random(value)
}

/// Whether the name indicates a public fingerprint.
fn is_fingerprint_name(name: &str) -> bool {
    name.split('_').any(|part| {
        part.ends_with("SUM")
            || part.starts_with("SHA")
            || matches!(
                part,
                "SHA"
                    | "SHA1"
                    | "SHA256"
                    | "SHA512"
                    | "MD5"
                    | "COMMIT"
                    | "REV"
                    | "REVISION"
                    | "HASH"
                    | "DIGEST"
                    | "CHECKSUM"
                    | "VERSION"
                    | "REF"
                    | "ID"
                    | "UUID"
                    | "GUID"
                    | "BUILD"
                    | "TAG"
                    | "ETAG"
                    | "SUM"
                    | "HEAD"
                    | "BASE"
                    | "FINGERPRINT"
                    | "GIT"
                    | "PUBLIC"
                    | "IMAGE"
                    | "TRACE"
                    | "SPAN"
            )
    })
}
