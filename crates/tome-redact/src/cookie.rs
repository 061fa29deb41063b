//! Cookies: `Cookie` and `Set-Cookie` headers, cookies in code, and cookie files.
//!
//! Cookie names stay. Values that identify a session are cut; values such as `theme=dark` stay.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_quote};
use super::randomness::is_random;
use super::value;

/// Substrings in the names of session cookies.
const SESSION_NAMES: &[&str] = &[
    "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "secret", "key",
    "ticket", "sso", "saml", "idsrv", "aspxauth", "identity", "refresh", "access", "user_id",
];

/// Cookie attributes, which are not secrets.
const ATTRIBUTES: &[&str] = &[
    "expires",
    "max-age",
    "path",
    "domain",
    "secure",
    "httponly",
    "samesite",
    "priority",
    "partitioned",
    "version",
    "comment",
];

/// Finds the cookies after the word `cookie`. Returns the end of the parsed part.
pub(crate) fn find_cookies(
    hay: Haystack<'_>,
    start: usize,
    word_end: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    let name_end = hay.skip_while_within(word_end, 8, |b| b.is_ascii_alphanumeric());
    let closed = hay.skip_while_within(name_end, 8, |b| is_quote(b) || matches!(b, b'\\' | b']'));
    let sign = hay.skip_blanks(closed);
    // `curl -b`/`--cookie` is followed by a blank only.
    let option = hay.byte_before(start) == b'-' && sign > closed;
    if !matches!(hay.byte_at(sign), b':' | b'=' | b',') && !option {
        return start + 1;
    }
    let value = if option { sign } else { sign + 1 };
    let first = hay.skip_while_within(value, 8, |b| {
        matches!(b, b' ' | b'\t' | b'\\' | b'{' | b'[') || is_quote(b)
    });
    find_cookie_pairs(hay, first, cuts)
}

/// Finds `name=value; name=value` and `'name': 'value', …` up to the end of the line.
pub(crate) fn find_cookie_pairs(
    hay: Haystack<'_>,
    from: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    let mut at = from;
    loop {
        let name_end = hay.skip_while_within(at, 128, is_cookie_name);
        let closed = hay.skip_while_within(name_end, 4, |b| is_quote(b) || b == b'\\');
        let sign = hay.skip_blanks(closed);
        let binds = match hay.byte_at(sign) {
            b'=' => true,
            b':' => closed > name_end,
            _ => false,
        };
        if name_end == at || !binds {
            let flag = name_end > at && hay.byte_at(name_end) == b';';
            if !flag {
                return name_end.max(from);
            }
            at = hay.skip_blanks(name_end + 1);
            continue;
        }
        let value = hay.skip_while_within(sign + 1, 8, |b| b == b' ' || b == b'\\' || is_quote(b));
        let end = hay.skip_while(value, is_cookie_value);
        let name = hay.slice(at, name_end);
        if is_session_cookie(name, hay.slice(value, end)) {
            cuts.push(RedactionCut::secret(value, end, "cookie", CutCertainty::LooksRandom));
        }
        let expires = name.eq_ignore_ascii_case("expires");
        let rest =
            if expires { hay.skip_while_within(end, 40, |b| b != b';' && b != b'\n') } else { end };
        let after = hay.skip_while_within(rest, 8, |b| is_quote(b) || b == b'\\');
        if !matches!(hay.byte_at(after), b';' | b',') {
            return rest.max(from);
        }
        at = hay.skip_while_within(after + 1, 8, |b| matches!(b, b' ' | b'\\') || is_quote(b));
    }
}

fn is_cookie_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&*+-.^_|~".contains(&b)
}

fn is_cookie_value(b: u8) -> bool {
    b > b' ' && b != 0x7F && !matches!(b, b';' | b',' | b'"' | b'\'' | b'`' | b'\\' | b'}' | b')')
}

fn is_session_cookie(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if ATTRIBUTES.contains(&lower.as_str()) || value::is_placeholder(value) {
        return false;
    }
    let judged = value.get(..512).unwrap_or(value);
    let named = SESSION_NAMES.iter().any(|part| lower.contains(part));
    let mixed = judged.bytes().any(|b| b.is_ascii_digit())
        && judged.bytes().any(|b| b.is_ascii_alphabetic());
    // Long mixed values, such as web analytics ids, identify a visitor.
    let long = judged.len() >= 24 && mixed && !value::is_made_of_words(judged);
    named
        && judged.len() >= 6
        && !value::is_placeholder_word(judged)
        && (mixed || judged.len() >= 16)
        || is_random(judged)
        || long
}

/// The value at the end of a line in a cookie file: seven tab-separated fields.
pub(crate) fn find_cookie_line(
    hay: Haystack<'_>,
    tab: usize,
) -> (Option<RedactionCut<'static>>, usize) {
    let (tab_text, line_end) = if hay.byte_at(tab) == b'\\' {
        ("\\t", hay.find_line_end(tab).min(hay.skip_while(tab, |b| b != b'"' && b != b'\n')))
    } else {
        ("\t", hay.skip_while(tab, |b| b != b'\n'))
    };
    let line = hay.slice(tab + tab_text.len(), line_end);
    let fields: Vec<&str> = line.split(tab_text).take(7).collect();
    let [_, path, secure, expires, _, value] = fields.as_slice() else {
        return (None, line_end);
    };
    let shaped = path.starts_with('/')
        && matches!(*secure, "TRUE" | "FALSE")
        && expires.bytes().all(|b| b.is_ascii_digit());
    let value = value.trim_end();
    let start = line_end - fields.last().map_or(0, |last| last.len());
    let is_secret = shaped && value.len() >= 8 && !value::is_placeholder(value);
    let cut = is_secret.then(|| {
        RedactionCut::secret(start, start + value.len(), "cookie", CutCertainty::SecretPosition)
    });
    (cut, line_end)
}
