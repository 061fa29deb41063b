//! Credentials in URLs: `scheme://user:password@host`.
//!
//! Scheme, user and host stay. The password is cut, and so is a lone user that is itself a token.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::Haystack;
use super::randomness::is_random;
use super::value;

/// Length limit of the user name and the password.
const USERINFO_BYTES_MAX: usize = 1024;

/// The credentials after this `://`, which ends at `from`.
pub(crate) fn find_url_password(
    hay: Haystack<'_>,
    colon: usize,
    from: usize,
) -> Option<RedactionCut<'static>> {
    if !hay.byte_before(colon).is_ascii_alphanumeric() || hay.byte_at(from) == b'[' {
        return None;
    }
    // Nearly all URLs have no credentials.
    let reach = hay.floor_boundary(from.saturating_add(USERINFO_BYTES_MAX));
    memchr::memchr(b'@', hay.slice(from, reach).as_bytes())?;
    let within =
        |from, class: fn(u8) -> bool| hay.skip_while_within(from, USERINFO_BYTES_MAX, class);
    let run = within(from, is_url_byte);
    let authority = within(from, |b| is_url_byte(b) && !matches!(b, b'/' | b'?' | b'#' | b'\\'));
    let at_sign = find_last_at_sign(hay, from, authority).or_else(|| {
        // A password with an unescaped `/`: the text after the colon is not a port.
        let user = within(from, |b| !matches!(b, b':' | b'/' | b'?' | b'#') && is_url_byte(b));
        let port = within(user + 1, |b| b.is_ascii_digit());
        let is_port = matches!(hay.byte_at(port), b'/' | b'?' | b'#') || port >= run;
        (hay.byte_at(user) == b':' && !is_port).then(|| find_last_at_sign(hay, from, run)).flatten()
    })?;
    let user_end = within(from, |b| b != b':').min(at_sign);
    let cut = if user_end < at_sign { (user_end + 1, at_sign) } else { (from, at_sign) };
    let secret = hay.slice(cut.0, cut.1);
    let is_secret = if user_end < at_sign {
        !secret.is_empty() && !value::is_placeholder(secret)
    } else {
        is_token_user(secret)
    };
    is_secret.then(|| RedactionCut::secret(cut.0, cut.1, "url", CutCertainty::SecretPosition))
}

/// `user:password@tcp(host)`, the DSN format of Go drivers; `at_sign` is the `@`.
pub(crate) fn find_dsn_password(
    hay: Haystack<'_>,
    at_sign: usize,
) -> Option<RedactionCut<'static>> {
    let start = hay.skip_back_while(at_sign, USERINFO_BYTES_MAX, |b| is_url_byte(b) && b != b':');
    let secret = hay.slice(start, at_sign);
    let bound =
        hay.byte_before(start) == b':' && !secret.is_empty() && !value::is_placeholder(secret);
    bound.then(|| RedactionCut::secret(start, at_sign, "url", CutCertainty::SecretPosition))
}

/// Whether a user name looks generated.
fn is_token_user(user: &str) -> bool {
    let has = |class: fn(&u8) -> bool| user.bytes().any(|b| class(&b));
    !value::is_placeholder(user)
        && (is_random(user)
            || user.len() >= 20
                && !user.contains('.')
                && has(u8::is_ascii_digit)
                && has(u8::is_ascii_alphabetic))
}

fn find_last_at_sign(hay: Haystack<'_>, from: usize, to: usize) -> Option<usize> {
    let start = hay.skip_back_while(to, to - from, |b| b != b'@');
    (start > from).then(|| start - 1)
}

fn is_url_byte(b: u8) -> bool {
    b > b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | 0x7F)
}
