//! The work of a search is linear in the length of any text. The tests count the bytes that
//! matchers examine instead of measuring time.

use super::redactor;
use crate::haystack::work;

/// Limit of bytes examined per byte of text, over all searches.
const WORK_PER_BYTE_MAX: usize = 3_000;

/// Fragments that made, or could make, a matcher examine the same bytes repeatedly.
const PIECES: &[&str] = &[
    "curl -u a ",
    "curl -u ",
    " -u ",
    "curl ",
    "mysql -p ",
    "mysql -p\"",
    "password=",
    "password=\"",
    "password=\\\"",
    "password: '",
    "passpasspass",
    "PASSWORD",
    "a://a:",
    "a://",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "<private \"",
    "<private '",
    "<private a=",
    "<",
    "Cookie: a=b;",
    "cookie: ",
    "kind: Secret\n",
    "kind: Secret\ndata:\n",
    "\"kind\":\"Secret\",\"data\":{",
    "data data ",
    "machine a login b ",
    "machine ",
    ":5432:",
    ":*:",
    "eyJ.",
    "eyJhbGciOiJ.",
    "hawk.",
    "sk-a",
    "AAAAAAAAAAAAAAAAAAAAA/",
    "IBAAKC",
    "LS0tLS1CRUdJTi",
    "\"d\":\"",
    "authorization: bearer ",
    "bearer%20",
    "identified by ",
    "identified with ",
    "abandon ability ",
    "word ",
    "\u{1b}]",
    "\u{1b}[",
    "\\u001b[",
    "[1;",
    "\u{200b}",
    "\\",
    "\"",
    "'",
    "`",
    "=",
    "A=",
    "A=\"",
    "[redacted:",
    "[private]",
    "Private-Lines: 1\n",
    "$2b$",
    "{SSHA}",
    "Q~",
    "_secret_",
    "MTEx",
    "login x password ",
    "${PASSWORD:-",
    "\tTRUE\t/",
];

fn examined_bytes(text: &str) -> usize {
    work::take();
    redactor().redact(text);
    work::take()
}

#[test]
fn work_is_linear_for_any_repeated_text() {
    const BYTES: usize = 6_000;
    let mut slow = String::new();
    for first in PIECES {
        // Alone, and alternating with a fragment that changes its meaning.
        for second in ["", "9aZ\n"] {
            let piece = format!("{first}{second}");
            let once = examined_bytes(&piece.repeat(BYTES / piece.len()));
            let twice = examined_bytes(&piece.repeat(2 * BYTES / piece.len()));
            if twice > 3 * once + BYTES || once > WORK_PER_BYTE_MAX * BYTES {
                slow.push_str(&format!(
                    "{piece:?}: {} per byte, then {}\n",
                    once / BYTES,
                    twice / (2 * BYTES)
                ));
            }
        }
    }
    assert!(slow.is_empty(), "{slow}");
}
