//! Credential files: `.netrc`, `.pgpass`, and password hashes as in `/etc/shadow`.

use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_base64_byte};
use super::value;

/// Words examined per `.netrc` entry.
const NETRC_WORDS_MAX: usize = 16;
/// Length limit of passwords and user names.
const WORD_BYTES_MAX: usize = 1024;

/// Finds the password of the `.netrc` entry that starts here (`machine host login … password …`).
/// Returns the end of the parsed part.
pub(crate) fn find_netrc(
    hay: Haystack<'_>,
    start: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    if !hay.is_word_start(start) {
        return start + 1;
    }
    let machine = hay.starts_with_ignore_case(start, "machine");
    let mut at =
        find_next_word(hay, hay.skip_while_within(start, 8, |b| b.is_ascii_alphabetic())).0;
    if machine {
        let (word, end) = find_next_word(hay, at);
        let host = hay.slice(word, end);
        if !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:[]%*".contains(&b)) {
            return start + 1;
        }
        at = end;
    }
    let mut known = false;
    for _ in 0..NETRC_WORDS_MAX {
        let (word, end) = find_next_word(hay, at);
        let key = hay.slice(word, end);
        if !matches!(key, "login" | "password" | "passwd" | "account" | "port") {
            break;
        }
        let (value, value_end) = find_next_word(hay, end);
        let text = hay.slice(value, value_end);
        let secret = matches!(key, "password" | "passwd") && known || key == "password" && machine;
        if secret
            && !text.is_empty()
            && !value::is_placeholder(text)
            && !value::is_placeholder_word(text)
        {
            cuts.push(RedactionCut::secret(
                value,
                value_end,
                "password",
                CutCertainty::SecretPosition,
            ));
        }
        known = true;
        at = value_end;
    }
    if known { at } else { start + 1 }
}

/// Start and end of the next word, skipping whitespace and escaped line breaks.
fn find_next_word(hay: Haystack<'_>, from: usize) -> (usize, usize) {
    let mut start = from;
    loop {
        start = hay.skip_while_within(start, WORD_BYTES_MAX, |b| b.is_ascii_whitespace());
        let escape =
            hay.byte_at(start) == b'\\' && matches!(hay.byte_at(start + 1), b'n' | b't' | b'r');
        if !escape {
            break;
        }
        start += 2;
    }
    let end = hay.skip_while_within(start, WORD_BYTES_MAX, |b| {
        b > b' ' && !matches!(b, b'"' | b'\\' | b'`')
    });
    (start, end)
}

/// The password at the end of a `host:port:database:user:password` line, and the line's end.
pub(crate) fn find_pgpass(
    hay: Haystack<'_>,
    colon: usize,
) -> (Option<RedactionCut<'static>>, usize) {
    let start = hay.skip_back_while(colon, 256, |b| b > b' ' && !super::haystack::is_quote(b));
    let end = hay.skip_while_within(colon, WORD_BYTES_MAX, |b| {
        b > b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'\\')
    });
    let line = hay.slice(start, end);
    let fields: Vec<&str> = line.splitn(5, ':').collect();
    let [host, port, database, user, password] = fields.as_slice() else {
        return (None, colon + 1);
    };
    let port_fits = *port == "*" || !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let fits = port_fits
        // In `/etc/passwd` these fields are numeric.
        && !user.bytes().all(|b| b.is_ascii_digit())
        && [host, database, user].iter().all(|field| !field.is_empty() && !field.contains('/'))
        && !password.is_empty()
        && !password.starts_with(':')
        && !value::is_placeholder(password)
        && !value::is_placeholder_word(password);
    let cut = fits.then(|| {
        RedactionCut::secret(end - password.len(), end, "password", CutCertainty::SecretPosition)
    });
    (cut, end)
}

/// The password hash that starts here: `$2b$…`, `$6$…`, `$argon2id$…`, `{SSHA}…`.
pub(crate) fn find_password_hash(
    hay: Haystack<'_>,
    start: usize,
    literal_end: usize,
) -> Option<RedactionCut<'static>> {
    const BYTES_MIN: usize = 20;
    if hay.byte_at(start).is_ascii_alphabetic() && !hay.is_word_start(start) {
        return None;
    }
    let end = hay.skip_while_within(literal_end, WORD_BYTES_MAX, |b| {
        is_base64_byte(b) || matches!(b, b'$' | b'.' | b',' | b':' | b'}')
    });
    let end = hay.skip_back_while(end, end - literal_end, |b| matches!(b, b':' | b',' | b'.'));
    // In a shadow file the hash is followed by numeric fields.
    let hash = hay.slice(literal_end, end);
    let hash = match hash.find(':') {
        Some(colon) if hay.byte_at(start) == b'$' => hash.get(..colon).unwrap_or(hash),
        _ => hash,
    };
    let end = literal_end + hash.len();
    let longest = hash.split(['$', ':', ',', '}']).map(str::len).max().unwrap_or(0);
    let has = |class: fn(&u8) -> bool| hash.bytes().any(|b| class(&b));
    let fits = longest >= BYTES_MIN && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    fits.then(|| RedactionCut::secret(start, end, "password-hash", CutCertainty::KnownPrefix))
}
