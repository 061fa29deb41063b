//! Credentials in addresses: `scheme://user:password@host`.
//!
//! Scheme, user and host stay, the password goes; so does a lone user that is itself a token.

use super::cut::{Cut, Sure};
use super::randomness::is_random;
use super::scan::Scan;
use super::value;

/// What an address may hold before its host: longer ones are no addresses.
const USERINFO_BYTES_MAX: usize = 1024;

/// The credentials behind this `://`, which ends at `from`.
pub(super) fn at_address(scan: Scan<'_>, colon: usize, from: usize) -> Option<Cut<'static>> {
    if !scan.before(colon).is_ascii_alphanumeric() || scan.byte(from) == b'[' {
        return None;
    }
    let within = |from, class: fn(u8) -> bool| scan.run_within(from, USERINFO_BYTES_MAX, class);
    let run = within(from, is_address);
    let authority = within(from, |b| is_address(b) && !matches!(b, b'/' | b'?' | b'#' | b'\\'));
    let at_sign = last_at(scan, from, authority).or_else(|| {
        // A password with an unescaped `/` in it: what follows the colon is no port.
        let user = within(from, |b| !matches!(b, b':' | b'/' | b'?' | b'#') && is_address(b));
        let port = within(user + 1, |b| b.is_ascii_digit());
        let is_port = matches!(scan.byte(port), b'/' | b'?' | b'#') || port >= run;
        (scan.byte(user) == b':' && !is_port).then(|| last_at(scan, from, run)).flatten()
    })?;
    let user_end = within(from, |b| b != b':').min(at_sign);
    let cut = if user_end < at_sign { (user_end + 1, at_sign) } else { (from, at_sign) };
    let secret = scan.part(cut.0, cut.1);
    let is_secret = if user_end < at_sign {
        !secret.is_empty() && !value::is_blank_form(secret)
    } else {
        is_token(secret)
    };
    is_secret.then(|| Cut::secret(cut.0, cut.1, "url", Sure::Placed))
}

/// `user:password@tcp(host)`, as drivers in Go write it; the `@` stands here.
pub(super) fn at_driver(scan: Scan<'_>, at_sign: usize) -> Option<Cut<'static>> {
    let start = scan.run_back(at_sign, USERINFO_BYTES_MAX, |b| is_address(b) && b != b':');
    let secret = scan.part(start, at_sign);
    let bound = scan.before(start) == b':' && !secret.is_empty() && !value::is_blank_form(secret);
    bound.then(|| Cut::secret(start, at_sign, "url", Sure::Placed))
}

/// A user name that nobody would choose.
fn is_token(user: &str) -> bool {
    let has = |class: fn(&u8) -> bool| user.bytes().any(|b| class(&b));
    !value::is_blank_form(user)
        && (is_random(user)
            || user.len() >= 20
                && !user.contains('.')
                && has(u8::is_ascii_digit)
                && has(u8::is_ascii_alphabetic))
}

fn last_at(scan: Scan<'_>, from: usize, to: usize) -> Option<usize> {
    let start = scan.run_back(to, to - from, |b| b != b'@');
    (start > from).then(|| start - 1)
}

fn is_address(b: u8) -> bool {
    b > b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | 0x7F)
}
